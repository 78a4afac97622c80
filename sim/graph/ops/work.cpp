#include "sim/graph/ops/work.h"

namespace strata {

std::int64_t ShardShape::in() const {
  std::int64_t sum = 0;
  for (const Extents& input : inputs) sum += volume(input);
  return sum;
}

PhaseWork ShardShape::elements(std::int64_t count) const {
  PhaseWork work;
  work.any = true;
  work.bytes = {count * element_bytes(dtype)};
  return work;
}

PhaseWork ShardShape::passes(std::int64_t count) const {
  return count > 0 ? elements(count * out()) : PhaseWork{};
}

PhaseWork ShardShape::passes(Phase phase, std::int64_t forward, std::int64_t backward) const {
  if (phase == Phase::forward) return passes(forward);
  return passes(phase == Phase::backward_data ? backward : 0);
}

PhaseWork ShardShape::product(Gemm direct) const {
  if (direct.count == 0) return {};
  PhaseWork work = elements(in() + out() + parameters.total());
  work.direct = direct;
  return work;
}

}  // namespace strata
