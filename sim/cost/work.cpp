#include "sim/cost/work.h"

#include <variant>

namespace strata {

PhaseWork phase_work(const ShardWork& work, Phase phase, const KernelTraits& kernels) {
  if (volume(work.output) == 0) return {};
  const ShardShape shard{work.output, work.inputs, work.parameters, work.dtype, kernels};
  if (phase == Phase::update) {  // plain SGD: w, its gradient, w
    const std::int64_t parameters = work.parameters.total();
    return parameters > 0 ? shard.elements(3 * parameters) : PhaseWork{};
  }
  return std::visit([&](const auto& page) { return page.work(shard, phase); }, *work.op);
}

}  // namespace strata
