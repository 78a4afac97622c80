#pragma once

// What of a strategy that fits a mesh DTensor cannot do, or does otherwise. Internal to
// sim/exporters.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/exporters/dtensor/layout.h"
#include "sim/graph/graph.h"

namespace strata {

/// Why DTensor has no placements for a layer that has inputs and is cut by `degrees`, laid out so
/// on a mesh: a clause in plain words; empty where it has them.
std::string why_no_dtensor(const Graph& graph, LayerId layer, const LayerLayout& layout,
                           std::span<const std::int64_t> mesh, const Degrees& degrees);

/// Parts of unequal size, ranks without work, and the ops that DTensor cannot compute on their own
/// parts: clauses in plain words, of one layer that has inputs, cut by `degrees` on a mesh of so
/// many devices.
std::vector<std::string> dtensor_limits(const Graph& graph, LayerId layer, const Degrees& degrees,
                                        std::int64_t devices);

}  // namespace strata
