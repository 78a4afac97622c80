#pragma once

// What DTensor does otherwise than a strategy that fits its mesh: parts of unequal size, ranks
// without work, and the ops that it cannot compute on their own parts. Internal to sim/exporters.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// Clauses in plain words, of one layer that has inputs, cut by `degrees` on a mesh of so many
/// devices.
std::vector<std::string> dtensor_limits(const Graph& graph, LayerId layer, const Degrees& degrees,
                                        std::int64_t devices);

}  // namespace strata
