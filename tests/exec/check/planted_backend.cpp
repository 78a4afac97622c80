#include "tests/exec/check/planted_backend.h"

#include <utility>

namespace strata::testing {
namespace {

thread_local DeviceId entered;

}  // namespace

class PlantedKernel : public Kernel {
 public:
  PlantedKernel(PlantedBackend& backend, DeviceId device, const ShardSpec& spec,
                std::unique_ptr<Kernel> kernel)
      : backend_(backend), device_(device), spec_(spec), kernel_(std::move(kernel)) {}

  void run(Phase phase, const Operands& operands) override {
    const std::string& layer = (*spec_).name;
    backend_.owns(operands.statistics, layer, true);
    backend_.owns(operands.parameter_gradients, layer, false);
    backend_.owns(operands.parameters, layer, false);
    if (!backend_.planted_.kernel) return kernel_->run(phase, operands);
    KernelCall call{backend_, layer, phase, device_, spec_, operands, {}};
    call.run = [&] { kernel_->run(phase, call.operands); };
    backend_.planted_.kernel(call);
  }

 private:
  PlantedBackend& backend_;
  DeviceId device_;
  ShardSpec spec_;
  std::unique_ptr<Kernel> kernel_;
};

std::vector<float> PlantedBackend::values(const Region& region) {
  std::vector<float> values(static_cast<std::size_t>(volume(region.box)));
  pack(values.data(), region, region.box);
  return values;
}

void PlantedBackend::set(const Region& region, const std::vector<float>& values) {
  unpack(region, values.data(), region.box);
}

void PlantedBackend::enter(DeviceId device) {
  entered = device;
  CpuBackend::enter(device);
}

std::unique_ptr<Kernel> PlantedBackend::make_kernel(DeviceId device, const ShardSpec& spec) {
  return std::make_unique<PlantedKernel>(*this, device, spec,
                                         CpuBackend::make_kernel(device, spec));
}

void* PlantedBackend::allocate(DeviceId device, std::int64_t bytes) {
  void* memory = CpuBackend::allocate(device, bytes);
  const std::lock_guard lock(mutex_);
  memory_[static_cast<const std::byte*>(memory)] = {device, bytes};
  return memory;
}

void PlantedBackend::release(DeviceId device, void* memory) {
  {
    const std::lock_guard lock(mutex_);
    memory_.erase(static_cast<const std::byte*>(memory));
    owners_.erase(static_cast<const float*>(memory));
  }
  CpuBackend::release(device, memory);
}

void PlantedBackend::owns(const float* values, const std::string& layer, bool statistics) {
  const std::lock_guard lock(mutex_);
  if (values != nullptr) owners_[values] = {layer, statistics};
}

PlantedBackend::Owner PlantedBackend::owner_of(const float* values) {
  const std::lock_guard lock(mutex_);
  const auto memory = memory_.upper_bound(reinterpret_cast<const std::byte*>(values));
  if (memory == memory_.begin()) return {};
  const auto& [first, block] = *std::prev(memory);
  if (reinterpret_cast<const std::byte*>(values) >= first + block.bytes) return {};
  const auto* begin = reinterpret_cast<const float*>(first);
  const auto owner = owners_.find(begin);
  return owner == owners_.end() ? Owner{} : owner->second;
}

DeviceId PlantedBackend::device_of(const void* data) {
  const std::lock_guard lock(mutex_);
  return std::prev(memory_.upper_bound(static_cast<const std::byte*>(data)))->second.device;
}

PlantedBackend::Counts& PlantedBackend::counts() {
  const std::lock_guard lock(mutex_);
  return counts_[entered];
}

void PlantedBackend::copy(const Region& to, const Region& from, const Box& box) {
  if (!planted_.copy) return CpuBackend::copy(to, from, box);
  const bool crosses = device_of(to.data) != device_of(from.data);
  std::int64_t& count = crosses ? counts().crossing_copies : counts().copies;
  BoxCall call{*this, to, from, box, crosses, count++, [&] { CpuBackend::copy(to, from, box); }};
  planted_.copy(call);
}

void PlantedBackend::add(const Region& to, const Region& from, const Box& box) {
  if (!planted_.add) return CpuBackend::add(to, from, box);
  BoxCall call{
      *this, to, from, box, false, counts().adds++, [&] { CpuBackend::add(to, from, box); }};
  planted_.add(call);
}

void PlantedBackend::sum(const Region& to, std::span<const Region> from) {
  std::vector<Region> parts(from.begin(), from.end());
  if (planted_.sum) planted_.sum(entered, counts().sums++, parts);
  CpuBackend::sum(to, parts);
}

void PlantedBackend::copy_values(float* to, const float* from, std::int64_t count) {
  if (planted_.values_arrive) {
    const std::string layer = owner_of(to).layer;
    if (!layer.empty() && !planted_.values_arrive(entered, layer, count)) return;
  }
  CpuBackend::copy_values(to, from, count);
}

void PlantedBackend::combine(Combination how, float* to, std::span<const float* const> parts,
                             std::span<const std::int64_t> counts, std::int64_t begin,
                             std::int64_t end) {
  const auto run = [&](std::span<const float* const> taken) {
    std::vector<std::int64_t> of_taken(counts.begin(), counts.end());
    of_taken.resize(taken.size(), counts.back());
    CpuBackend::combine(how, to, taken, of_taken, begin, end);
  };
  if (!planted_.combine) return run(parts);
  const Owner owner = owner_of(to);
  CombineCall call{owner.layer, owner.statistics, entered, parts, to, begin, end, run};
  planted_.combine(call);
}

void PlantedBackend::load(const Region& to, const float* plain, const Extents& whole) {
  if (!planted_.loaded) return CpuBackend::load(to, plain, whole);
  CpuBackend::load({to.data, planted_.loaded(entered, to.box, whole)}, plain, whole);
}

}  // namespace strata::testing
