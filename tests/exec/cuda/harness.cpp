#include "tests/exec/cuda/harness.h"

#include <array>

#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

constexpr std::array kGpus = {0, 1, 0};

}  // namespace

HostGpus::HostGpus(Precision precision) : type_(type_of(precision)), backend_(kGpus, precision) {
  host::set_gpus(2);
}

void HostGpus::begin_step(const StepContext& context) {
  for (std::size_t d = 0; d < kGpus.size(); ++d) backend_.seat(DeviceId(d)).begin_step(context);
}

double HostGpus::held(double value) const {
  const auto single = static_cast<float>(value);
  return type_ == Type::fp32 ? single : static_cast<float>(Bf16(single));
}

}  // namespace strata::cuda
