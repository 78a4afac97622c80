#pragma once

// CPU devices that make one mistake: a kernel, a copy or a sum is not what the plan asks for. Which
// tensor a copy or a sum is of is known by the memory that kernels were given.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "exec/cpu/cpu_backend.h"

namespace strata::testing {

class PlantedBackend;

/// One phase of one shard, about to run.
struct KernelCall {
  PlantedBackend& backend;
  const std::string& layer;
  Phase phase;
  DeviceId device;
  const ShardSpec& spec;
  Operands operands;          ///< to change before run()
  std::function<void()> run;  ///< with these operands
};

/// A box that goes into another region.
struct BoxCall {
  PlantedBackend& backend;
  const Region& to;
  const Region& from;
  const Box& box;
  bool crosses;         ///< from another device
  std::int64_t number;  ///< of those that cross (or not), on this device, from 0
  std::function<void()> run;
};

/// Several devices' values into one.
struct CombineCall {
  std::string layer;  ///< whose statistics or gradients; empty where no kernel was seen with them
  bool statistics;
  DeviceId device;
  std::span<const float* const> parts;  ///< to change before run()
  float* to;
  std::int64_t begin, end;
  std::function<void(std::span<const float* const>)> run;
};

/// What may go wrong; where a function is empty, all is well.
struct Planted {
  std::function<void(KernelCall&)> kernel;
  std::function<void(BoxCall&)> copy, add;
  std::function<void(CombineCall&)> combine;
  /// Parts of a sum over readers, to change.
  std::function<void(DeviceId, std::int64_t number, std::vector<Region>&)> sum;
  /// Whether plain values of this layer's parameters or gradients arrive.
  std::function<bool(DeviceId, const std::string& layer, std::int64_t count)> values_arrive;
  /// The box of the data that is loaded.
  std::function<Box(DeviceId, const Box&, const Extents&)> loaded;
};

class PlantedBackend : public cpu::CpuBackend {
 public:
  PlantedBackend(std::size_t devices, Planted planted)
      : CpuBackend(devices), planted_(std::move(planted)) {}

  /// A region's values, row-major, and back.
  std::vector<float> values(const Region& region);
  void set(const Region& region, const std::vector<float>& values);

  bool has_own_cores() const override { return false; }  // tests share them
  void enter(DeviceId device) override;
  std::unique_ptr<Kernel> make_kernel(DeviceId device, const ShardSpec& spec) override;
  void* allocate(DeviceId device, std::int64_t bytes) override;
  void release(DeviceId device, void* memory) override;
  void copy(const Region& to, const Region& from, const Box& box) override;
  void add(const Region& to, const Region& from, const Box& box) override;
  void sum(const Region& to, std::span<const Region> from) override;
  void copy_values(float* to, const float* from, std::int64_t count) override;
  void combine(Combination how, float* to, std::span<const float* const> parts,
               std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end) override;
  void load(const Region& to, const float* plain, const Extents& whole) override;

 private:
  friend class PlantedKernel;
  struct Memory {
    DeviceId device;
    std::int64_t bytes;
  };
  struct Owner {
    std::string layer;
    bool statistics;
  };
  struct Counts {
    std::int64_t copies = 0, crossing_copies = 0, adds = 0, crossing_adds = 0, sums = 0;
  };
  void owns(const float* values, const std::string& layer, bool statistics);
  Owner owner_of(const float* values);
  DeviceId device_of(const void* data);
  Counts& counts();

  Planted planted_;
  std::mutex mutex_;
  std::map<const std::byte*, Memory> memory_;
  std::map<const float*, Owner> owners_;
  std::map<DeviceId, Counts> counts_;
};

}  // namespace strata::testing
