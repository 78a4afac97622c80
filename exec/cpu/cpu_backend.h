#pragma once

// The CPU as devices: one thread each, pinned to a core of its own while there are enough (device i
// to the i-th core that this process may use, modulo their number), with kernels that use no other
// thread. Memory is the host's; one device copies from another by reading it.

#include <memory>
#include <vector>

#include "exec/cpu/memory_pool.h"
#include "exec/runtime/backend.h"

namespace strata::cpu {

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(std::size_t devices);

  /// "AMD EPYC, 2 cores, oneDNN 2.6.3".
  std::string description() const;

  std::size_t device_count() const override { return pools_.size(); }
  std::string device_name(DeviceId device) const override;
  bool has_own_cores() const override { return pools_.size() <= cores_.size(); }
  void enter(DeviceId device) override;
  std::unique_ptr<Kernel> make_kernel(DeviceId device, const ShardSpec& spec) override;

  std::int64_t places(const Box& box) const override;
  std::int64_t bytes(const Box& box) const override;
  void* allocate(DeviceId device, std::int64_t bytes) override;
  void release(DeviceId device, void* memory) override;
  /// The most that was allocated on the device at once, until now.
  Bytes peak_memory(DeviceId device) const { return {pools_[device()]->peak_bytes()}; }

  void clear(const Region& to) override;
  void copy(const Region& to, const Region& from, const Box& box) override;
  void add(const Region& to, const Region& from, const Box& box) override;
  void sum(const Region& to, std::span<const Region> from) override;
  void copy_values(float* to, const float* from, std::int64_t count) override;
  void add_values(float* to, const float* from, std::int64_t count) override;
  void combine(Combination how, float* to, std::span<const float* const> parts,
               std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end) override;
  void update(const Operands& operands, std::int64_t count) override;
  void pack(float* to, const Region& from, const Box& box) override;
  void unpack(const Region& to, const float* from, const Box& box) override;
  void load(const Region& to, const float* plain, const Extents& whole) override;
  void store(float* plain, const Extents& whole, const Region& from) override;

 private:
  std::vector<std::unique_ptr<MemoryPool>> pools_;  // by device
  std::vector<int> cores_;                          // that this process may use
};

}  // namespace strata::cpu
