#include "tests/exec/cuda/harness.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/kept_parts.h"

namespace strata::cuda {
namespace {

// Where there is one GPU, it stands for all.
const std::vector<int>& gpus_of_three() {
  host::set_gpus(2);
  static const std::vector<int> three = {0, gpus().size() > 1 ? 1 : 0, 0};
  return three;
}

}  // namespace

HostGpus::HostGpus(Precision precision)
    : precision_(precision), backend_(gpus_of_three(), kept_parts(gpus_of_three()), precision) {}

HostGpus::~HostGpus() {
  if (host::stands_for_gpus()) return;
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  fmt::print(
      "agreement {{\"suite\": \"{}\", \"case\": \"{}\", \"precision\": \"{}\", \"error\": {:.3e}, "
      "\"tolerance\": {:.0e}, \"partitions\": \"{}\"}}\n",
      test.test_suite_name(), test.name(), ::testing::PrintToString(precision_), largest_error_,
      tolerance(),
      backend_.seat(DeviceId(0)).part().kind == GpuPartKind::green ? "green" : "shared");
}

void HostGpus::begin_step(const StepContext& context) {
  for (std::size_t d = 0; d < backend_.device_count(); ++d) {
    backend_.seat(DeviceId(d)).begin_step(context);
  }
}

double HostGpus::held(double value) const {
  const auto single = static_cast<float>(value);
  return precision_ == Precision::bf16 ? static_cast<float>(Bf16(single)) : single;
}

double HostGpus::tolerance() const {
  switch (precision_) {
    case Precision::tf32:
      return 5e-3;
    case Precision::bf16:
      return 3e-2;
    default:
      return 1e-5;
  }
}

std::vector<Precision> precisions_of_products() {
  if (host::stands_for_gpus()) return {Precision::fp32, Precision::bf16};
  return {Precision::fp32, Precision::tf32, Precision::bf16};
}

std::uint64_t seeds_of_products(std::uint64_t on_host) {
  return host::stands_for_gpus() ? on_host : std::max<std::uint64_t>(on_host / 10, 3);
}

}  // namespace strata::cuda
