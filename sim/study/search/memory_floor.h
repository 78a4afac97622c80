#pragma once

// What a strategy keeps in memory at least, as a sum of one number per choice: the part of the
// simulated peak that a search can reckon with.
//
// Every cut puts its shard 0, the one with element 0 of the tensor, on device 0. When the loss has
// summed up sample 0, device 0 has made all of its shards 0 and no backward pass over them has
// begun: it holds their parameters and what their backward passes will read. Halos, gradients and
// what other shards keep come on top. Where a network has no loss, or several, there need not be
// such an instant, and only parameters count.

#include <cstdint>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/graph/ops/phase.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Bytes by variable and choice.
std::vector<std::vector<std::int64_t>> memory_floor(const Graph& graph, DTypes dtypes,
                                                    const SearchSpace& space,
                                                    const KernelTraits& kernels = {});

}  // namespace strata
