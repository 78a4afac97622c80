#pragma once

// What of a strategy that fits a mesh DTensor does otherwise, and the dims of PyTorch's tensors.
// Internal to sim/exporters.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// Parts of unequal size, ranks without work, and the ops that DTensor cannot compute on their own
/// parts: clauses in plain words, of one layer that has inputs, cut by `degrees` on a mesh of so
/// many devices.
std::vector<std::string> dtensor_limits(const Graph& graph, LayerId layer, const Degrees& degrees,
                                        std::int64_t devices);

/// Of each layer's output, in torch's order: a network over h and w has n, c, h, w, one over w
/// alone n, c, w, and behind a flatten or a fully-connected layer tensors are n, c.
std::vector<std::vector<Dim>> torch_dims(const Graph& graph);

}  // namespace strata
