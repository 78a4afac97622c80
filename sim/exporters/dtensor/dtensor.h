#pragma once

// A strategy as a Python module of PyTorch's DTensor: the mesh, for each layer the placements of
// what it reads, its parameters and its output, and functions that make torch's objects of them and
// lay a model out. What DTensor cannot express stands in the module as comments and as a table.
// Importing it needs no torch: the functions do.

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/exporters/dtensor/layout.h"
#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// Throws InputError for a network whose tensors PyTorch has otherwise (torch_tensors.h).
std::string print_dtensor(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                          const DTensorLayout& layout);

/// One line for each limit, with the layers that share it: "conv1, conv2: ...".
std::vector<std::string> limit_lines(const Graph& graph, const DTensorLayout& layout);

}  // namespace strata
