#pragma once

// Which slot of its expert a token gets (sim/graph/ops/experts.h), for kernels that move tokens to
// slots and back. Value; thread-safe.

#include <cstdint>

#include "exec/runtime/kernel.h"

namespace strata {

struct ExpertSlots {
  std::int64_t tokens = 1, slots = 1;  ///< of one group, of the latter for each expert
  std::int64_t first = 0, count = 1;   ///< groups of the shard

  /// Of a dispatch's or a combination's shard, whose cut has whole groups.
  static ExpertSlots of(const ShardSpec& spec, std::int64_t groups, std::int64_t tokens,
                        std::int64_t slots) {
    const std::int64_t each = (*spec).output[Dim::w] / groups;
    const Interval along = spec.output[Dim::w];
    return {tokens / groups, slots / groups, along.begin / each, along.size() / each};
  }
  static ExpertSlots of(const ShardSpec& spec, const Dispatch& op) {
    const Layer& layer = *spec;
    return of(spec, op.groups, (*spec.graph)[layer.inputs[0]].output[Dim::w], layer.output[Dim::w]);
  }
  static ExpertSlots of(const ShardSpec& spec, const Combine& op) {
    const Layer& layer = *spec;
    return of(spec, op.groups, layer.output[Dim::w], (*spec.graph)[layer.inputs[0]].output[Dim::w]);
  }
};

}  // namespace strata
