#include "sim/graph/ops/softmax_cross_entropy.h"

#include "sim/graph/ops/checks.h"

namespace strata {

Extents SoftmaxCrossEntropy::output(InputExtents inputs) const {
  const Extents& in = only(inputs);
  if (in[Dim::d] != 1 || in[Dim::h] != 1) {
    fail(
        "softmax_cross_entropy takes (n, c) or (n, c, w); its input {} needs a flatten or an fc "
        "before it",
        show(in));
  }
  return in;
}

Statistics SoftmaxCrossEntropy::statistics(const Box& output) const {
  Statistics sums;
  sums.over[Dim::c] = true;
  sums.forward_by = Combination::log_sum_exp;
  sums.forward_values = 2 * output[Dim::n].size() * output[Dim::w].size();
  return sums;
}

PhaseWork SoftmaxCrossEntropy::work(const ShardShape& shard, Phase phase) const {
  return phase == Phase::forward_statistics ? shard.passes(1) : shard.passes(phase, 2, 2);
}

}  // namespace strata
