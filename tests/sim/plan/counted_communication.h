#pragma once

// What a step moves between devices, counted element by element, straight from the definitions of
// the ops: the referee of communication(). For small networks.

#include <cstdint>

#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata::testing {

/// Elements that cross between devices forward, and back again where a gradient is wanted.
std::int64_t count_transfers(const Graph& graph, const Strategy& strategy);
/// The weights of every output channel and term live on each device that multiplies by them, a bias
/// where the first term is.
std::int64_t count_sync(const Graph& graph, const Strategy& strategy);

}  // namespace strata::testing
