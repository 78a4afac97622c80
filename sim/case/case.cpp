#include "sim/case/case.h"

#include <algorithm>
#include <map>

namespace strata {

void change_kernels(Case& input, const std::function<void(KernelTraits&)>& change) {
  std::map<const CostModel*, std::shared_ptr<const CostModel>> changed;
  const auto before = input.models;  // whose addresses stay theirs meanwhile
  for (auto& model : input.models) {
    auto& other = changed[model.get()];
    if (!other) {
      KernelTraits kernels = model->kernels();
      change(kernels);
      other = model->with(kernels);
    }
    model = other;
  }
}

KernelTraits kernels_of(const Case& input) {
  KernelTraits least{.keeps_masks = true};
  if (!input.models.empty()) least.attention = AttentionKernel::unfused;
  for (const auto& model : input.models) {
    const AttentionKernel attention = model->kernels().attention;
    if (attention != AttentionKernel::unfused) least.attention = attention;
    least.clips_gradients = least.clips_gradients || model->kernels().clips_gradients;
    least.unscales_gradients = least.unscales_gradients || model->kernels().unscales_gradients;
    least.keeps_masks = least.keeps_masks && model->kernels().keeps_masks;
  }
  return least;
}

ComputeSettings compute_settings(const Case& input) {
  return {input.dtypes, input.optimizer, input.products};
}

Training training_of(const Case& input) {
  Training training;
  training.batch = input.batch();
  training.sync = input.sync;
  training.dtype = input.dtypes.values;
  const DType gradients = input.dtypes.gradients;
  if (gradients != input.dtypes.parameters) {
    training.gradients = gradients == DType::bf16 ? GradientType::bf16 : GradientType::fp32;
  }
  training.optimizer = input.optimizer;
  if (input.cut) training.micro_batch = input.cut->samples;
  training.schedule =
      input.schedule.kind ? std::string(name(*input.schedule.kind)) : input.schedule.file;
  training.overlap = input.schedule.overlap;
  training.recompute = input.recompute;
  training.train = input.train;
  return training;
}

Bytes memory_capacity(const Case& input, DeviceId device) {
  return input.cluster[device].memory_left(input.models[device()]->memory_capacity());
}

Bytes least_memory_capacity(const Case& input) {
  Bytes least = memory_capacity(input, DeviceId(0));
  for (std::size_t d = 1; d < input.models.size(); ++d) {
    least = std::min(least, memory_capacity(input, DeviceId(d)));
  }
  return least;
}

}  // namespace strata
