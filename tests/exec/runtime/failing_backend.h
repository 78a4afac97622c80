#pragma once

// CPU devices on which something happens at a chosen moment, counted over all devices: before the
// n-th run of a kernel, or at the n-th piece of memory. Knows who was at work then, and what memory
// was not given back.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "exec/cpu/cpu_backend.h"

namespace strata::testing {

class FailingBackend : public cpu::CpuBackend {
 public:
  using cpu::CpuBackend::CpuBackend;

  /// The n-th (from 0) calls `what`, on the device's thread.
  void at_kernel(std::int64_t n, std::function<void()> what) { set(kernel_, n, what); }
  void at_allocation(std::int64_t n, std::function<void()> what) { set(allocation_, n, what); }

  /// Of the kernel that the moment came to: "step 0: layer conv1: forward, shard" and "cpu0".
  const std::string& where() const { return where_; }
  const std::string& on() const { return on_; }
  std::int64_t kernels_run() const { return kernel_.count; }
  std::int64_t allocations() const { return allocation_.count; }
  std::int64_t pieces_held() const { return held_; }

  std::unique_ptr<Kernel> make_kernel(DeviceId device, const ShardSpec& spec) override;
  void* allocate(DeviceId device, std::int64_t bytes) override;
  void release(DeviceId device, void* memory) override;

 private:
  struct Moment {
    std::int64_t at = -1;
    std::function<void()> what;
    std::atomic<std::int64_t> count = 0;

    bool comes() { return count++ == at; }
  };
  friend class WatchedKernel;
  static void set(Moment& moment, std::int64_t n, std::function<void()>& what) {
    moment.at = n;
    moment.what = std::move(what);
  }

  Moment kernel_, allocation_;
  std::string where_, on_;  // written once, before the run ends
  std::atomic<std::int64_t> held_ = 0;
};

}  // namespace strata::testing
