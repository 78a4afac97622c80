#include "sim/cost/work.h"

#include <variant>

namespace strata {

PhaseWork phase_work(const ShardWork& work, Phase phase, const KernelTraits& kernels) {
  if (volume(work.output) == 0) return {};
  const ShardShape shard{work.output, work.inputs, work.parameters, work.dtypes.values, kernels};
  if (phase == Phase::update) {
    const std::int64_t parameters = work.parameters.total();
    if (parameters == 0) return {};
    PhaseWork update;
    update.any = true;
    update.bytes = Bytes{
        parameters * update_bytes(work.optimizer, work.dtypes.parameters, work.dtypes.gradients)};
    return update;
  }
  return std::visit([&](const auto& page) { return page.work(shard, phase); }, *work.op);
}

}  // namespace strata
