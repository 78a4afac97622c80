#pragma once

// What a strategy keeps in memory at least, as a sum of one number per choice: the part of the
// simulated peak that a search can reckon with.
//
// Every cut puts its shard 0, the one with element 0 of the tensor, on device 0. When the loss has
// summed up sample 0, device 0 has made all of its shards 0 and no backward pass over them has
// begun: it holds their parameters, what the optimizer keeps of them and what their backward passes
// will read. Halos, gradients and
// what other shards keep come on top. Where a network has no loss, or several, there need not be
// such an instant, and only parameters count.

#include <atomic>
#include <cstdint>
#include <vector>

#include "sim/case/predict.h"
#include "sim/graph/graph.h"
#include "sim/graph/ops/phase.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// What of a case decides how much is kept.
struct KeptBy {
  KernelTraits kernels = {};
  Optimizer optimizer = Optimizer::sgd;  ///< plain SGD where one replica alone keeps state
  /// Inputs that a shard gathered are dropped meanwhile (LowerOptions), and any input may be one.
  bool gathers_again = false;
  Segments segments = {};  ///< that are computed again: of them what they begin with is kept alone
  Zero zero = Zero::nothing;  ///< what replicas share
};

/// Bytes by variable and choice. Of a case with micro-batches, in rounds as they are for each
/// strategy (rounds.h). Throws Cancelled once it is called off.
std::vector<std::vector<std::int64_t>> memory_floor(const Case& input, const SearchSpace& space,
                                                    const std::atomic<bool>* cancelled = nullptr);

/// What device 0, of which the floor is, has for it.
inline Bytes capacity_of_floor(const Case& input) {
  return memory_capacity(input, DeviceId(0));
}

}  // namespace strata
