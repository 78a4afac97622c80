#include "tests/exec/runtime/failing_backend.h"

#include <fmt/format.h>

namespace strata::testing {

class WatchedKernel : public Kernel {
 public:
  WatchedKernel(FailingBackend& backend, DeviceId device, const ShardSpec& spec,
                std::unique_ptr<Kernel> kernel)
      : backend_(backend), device_(device), spec_(spec), kernel_(std::move(kernel)) {}

  void run(Phase phase, const Operands& operands) override {
    if (backend_.kernel_.comes()) {
      backend_.where_ = fmt::format("step {}: layer {}: {}, shard", operands.step->step,
                                    (*spec_).name, name(phase));
      backend_.on_ = backend_.device_name(device_);
      backend_.kernel_.what();
    }
    kernel_->run(phase, operands);
  }

 private:
  FailingBackend& backend_;
  DeviceId device_;
  ShardSpec spec_;
  std::unique_ptr<Kernel> kernel_;
};

std::unique_ptr<Kernel> FailingBackend::make_kernel(DeviceId device, const ShardSpec& spec) {
  return std::make_unique<WatchedKernel>(*this, device, spec,
                                         CpuBackend::make_kernel(device, spec));
}

void* FailingBackend::allocate(DeviceId device, std::int64_t bytes) {
  if (allocation_.comes()) allocation_.what();
  void* memory = CpuBackend::allocate(device, bytes);
  ++held_;
  return memory;
}

void FailingBackend::release(DeviceId device, void* memory) {
  CpuBackend::release(device, memory);
  --held_;
}

}  // namespace strata::testing
