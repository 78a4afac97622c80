#pragma once

// Networks in the language of Graphviz: a node a layer, an edge an input. With a strategy a node
// also says how the layer is cut, on which devices and what its synchronisation moves, layers cut
// alike have one colour, and an edge says what crosses between devices. Deterministic.

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/strategy/strategy.h"

namespace strata {

std::string print_dot(const Graph& graph);
/// `plan`: of this strategy.
std::string print_dot(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                      const Plan& plan);

}  // namespace strata
