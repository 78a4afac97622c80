#include "sim/cost/work.h"

#include <variant>

namespace strata {

PhaseWork phase_work(const ShardWork& work, Phase phase, const KernelTraits& kernels) {
  if (volume(work.output) == 0) return {};
  const ShardShape shard{work.output, work.inputs, work.parameters, work.dtypes.values, kernels};
  if (phase == Phase::update) {  // w, its gradient, w; what is kept of it, read and written
    const std::int64_t parameters = work.parameters.total();
    if (parameters == 0) return {};
    const DType held = work.dtypes.parameters;
    PhaseWork update;
    update.any = true;
    update.bytes =
        Bytes{parameters * (2 * element_bytes(held) + element_bytes(work.dtypes.gradients) +
                            2 * state_bytes(kernels.optimizer, held))};
    return update;
  }
  return std::visit([&](const auto& page) { return page.work(shard, phase); }, *work.op);
}

}  // namespace strata
