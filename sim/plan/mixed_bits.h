#pragma once

// Bits that stand for what a device does, mixed so well that what differs hardly ever looks alike,
// and their sums, which do not depend on the order. Internal to sim/plan.

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/index.h"

namespace strata {

using Bits = std::uint64_t;

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr Bits mixed(Bits x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}
/// Of several in their order.
template <class... Rest>
constexpr Bits mixed(Bits first, Bits second, Rest... rest) {
  return mixed(mixed(first) + second, static_cast<Bits>(rest)...);
}

/// A sum by domain and device that is empty again after each use.
class Sums {
 public:
  Sums(std::size_t domains, std::size_t devices) : by_domain_(domains), by_device_(devices) {}

  void add(std::uint32_t domain, DeviceId device, Bits bits) {
    total_ += bits;
    by_domain_[domain] += bits;
    by_device_[device()] += bits;
    touched_.emplace_back(domain, device);
  }
  /// Of other domains, of others in the domain, of the device.
  Bits seen_from(std::uint32_t domain, DeviceId device) const {
    const Bits own = by_device_[device()];
    return mixed(total_ - by_domain_[domain], by_domain_[domain] - own, own);
  }
  void clear() {
    for (const auto& [domain, device] : touched_) by_domain_[domain] = by_device_[device()] = 0;
    touched_.clear();
    total_ = 0;
  }

 private:
  Bits total_ = 0;
  std::vector<Bits> by_domain_, by_device_;
  std::vector<std::pair<std::uint32_t, DeviceId>> touched_;
};

}  // namespace strata
