#include "sim/cost/work.h"

#include <cmath>
#include <variant>

namespace strata {
namespace {

// Norm: read; scale: read and written. Zeroes: written. A loss's scale: read and written.
std::int64_t gradient_passes(const KernelTraits& kernels) {
  return (kernels.clips_gradients ? 3 : 0) + (kernels.zeroes_gradients ? 1 : 0) +
         (kernels.unscales_gradients ? 2 : 0);
}
std::int32_t gradient_kernels(const KernelTraits& kernels) {
  return (kernels.clips_gradients ? 2 : 0) + (kernels.zeroes_gradients ? 1 : 0) +
         (kernels.unscales_gradients ? 1 : 0);
}

// A loop over tensors launches each operation for each of them, weight and bias.
PhaseWork update_work(const ShardWork& work, const KernelTraits& kernels) {
  const std::int64_t parameters = work.parameters.total();
  if (parameters == 0) return {};
  const OptimizerTraits& rule = traits(work.optimizer);
  const bool at_once = kernels.update == UpdateKernel::fused;
  const std::int32_t tensors =
      kernels.update == UpdateKernel::for_loop && work.parameters.bias > 0 ? 2 : 1;
  const std::int64_t own =
      parameters * update_bytes(work.optimizer, work.dtypes.parameters, work.dtypes.gradients);
  PhaseWork update;
  update.any = true;
  update.kernels = (at_once ? 1 : rule.operations * tensors) + gradient_kernels(kernels);
  update.bytes =
      Bytes{at_once ? own : std::llround(static_cast<double>(own) * rule.operations_times)};
  update.bytes +=
      Bytes{parameters * gradient_passes(kernels) * element_bytes(work.dtypes.gradients)};
  return update;
}

}  // namespace

PhaseWork phase_work(const ShardWork& work, Phase phase, const KernelTraits& kernels) {
  if (volume(work.output) == 0) return {};
  const ShardShape shard{work.output, work.inputs, work.parameters, work.dtypes.values, kernels};
  if (phase == Phase::update) return update_work(work, kernels);
  return std::visit([&](const auto& page) { return page.work(shard, phase); }, *work.op);
}

}  // namespace strata
