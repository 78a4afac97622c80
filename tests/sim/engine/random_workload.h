#pragma once

// Small random workloads in which ties are common: few distinct sizes, bandwidths, durations and
// weights, so that flows often start in the very instant in which others end.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/engine/engine.h"

namespace strata {

/// few: quarters up to 2, or 1 alone. extreme: powers of ten from 1e-15 to 1e3.
enum class Weights : std::uint8_t { few, extreme };

class RandomWorkload {
 public:
  explicit RandomWorkload(std::uint64_t seed, Weights weights = Weights::few)
      : random_(seed), weights_(weights) {}

  /// Nor times before which something is not ready.
  RandomWorkload& without_delays() {
    delays_ = false;
    return *this;
  }

  RandomWorkload& with_distinct_priorities() {
    distinct_ = true;
    return *this;
  }

  /// Half of the flows slow devices.
  RandomWorkload& with_slowed_devices() {
    slows_ = true;
    return *this;
  }

  Workload make() {
    const std::size_t devices = 1 + pick(4), links = 1 + pick(12);
    const std::size_t size = 1 + (pick(4) == 0 ? pick(200) : pick(50));
    dependencies_ = 1 + pick(3);
    std::vector<BytesPerSecond> bandwidths;
    for (std::size_t l = 0; l < links; ++l) bandwidths.push_back({1e9 * up_to(4)});
    weighted_ = pick(2) == 0;
    Workload w(devices, bandwidths);
    for (std::size_t a = 0; a < size; ++a) add(w, devices, links);
    return w;
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  double up_to(std::size_t n) { return static_cast<double>(1 + pick(n)); }
  Tick duration() { return pick(5) == 0 ? 0 : static_cast<Tick>(pick(4)) * 500'000'000; }

  void add(Workload& w, std::size_t devices, std::size_t links) {
    ActivityId id;
    const std::size_t kind = pick(10);
    if (kind < 3) {
      const std::uint64_t priority = pick(4) == 0 ? pick(3) : 0;
      id = w.add_compute(DeviceId{pick(devices)}, duration(), distinct_ ? w.size() : priority);
    } else if (kind == 3) {
      id = w.add_event(duration());
    } else {
      id = add_flow(w, links);
    }
    for (std::size_t k = pick(dependencies_); k > 0 && id() > 0; --k) {
      w.add_dependency(id, ActivityId{pick(id())});
    }
    if (!delays_) return;
    if (pick(6) == 0) w.set_delay(id, duration());
    if (pick(6) == 0) w.set_not_before(id, 4 * duration());
  }

  ActivityId add_flow(Workload& w, std::size_t links) {
    std::vector<Demand> demands;
    const std::size_t chance = 1 + pick(5);
    for (std::size_t l = 0; l < links; ++l) {
      if (pick(chance) == 0) demands.push_back({LinkId{l}, weight()});
    }
    const double bytes = pick(12) == 0 ? 0 : 1e6 * up_to(4);
    const ActivityId flow = w.add_flow(demands, bytes, pick(2) == 0 ? 0 : duration() / 4);
    if (slows_ && pick(2) == 0) slow(w, flow);
    return flow;
  }

  void slow(Workload& w, ActivityId flow) {
    std::vector<DeviceId> devices;
    for (std::size_t d = 0; d < w.device_count(); ++d) {
      if (pick(2) == 0) devices.push_back(DeviceId{d});
    }
    w.slow(flow, w.add_device_set(devices), 0.2);
  }

  double weight() {
    if (weights_ == Weights::extreme) return std::pow(10, static_cast<double>(pick(19)) - 15);
    return weighted_ ? 0.25 * up_to(8) : 1;
  }

  std::mt19937_64 random_;
  Weights weights_;
  std::size_t dependencies_ = 1;  // an activity has fewer than this
  bool weighted_ = false;
  bool delays_ = true, distinct_ = false, slows_ = false;
};

}  // namespace strata
