#include "sim/graph/ops/dropout.h"

#include "sim/graph/ops/checks.h"

namespace strata {

Extents Dropout::output(InputExtents inputs) const {
  if (!(probability >= 0 && probability < 1)) fail("probability must be in [0, 1)");
  return only(inputs);
}

PhaseWork Dropout::work(const ShardShape& shard, Phase phase) const {
  PhaseWork work = shard.passes(phase, 2, 2);
  if (work.any) work.bytes += Bytes{shard.out()};
  return work;
}

}  // namespace strata
