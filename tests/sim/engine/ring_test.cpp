#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/engine/engine.h"

namespace strata {
namespace {

// A ring all-reduce of S = 100 MB over n = 16 devices on a switch, each device with a link up to
// the switch and one down of B = 12.5 GB/s: 2 (n - 1) rounds in which each device sends S / n to
// the next, each after 1 us of latency: 2 * 15/16 * S / B + 30 us = 15 ms + 30 us.
constexpr std::size_t kDevices = 16;
constexpr std::size_t kRounds = 2 * (kDevices - 1);
constexpr double kSize = 100e6, kBandwidth = 12.5e9;
constexpr Tick kLatency = 1'000'000;
constexpr Tick kExpected = 15'000'000'000 + 30'000'000;

Workload on_a_switch() {
  return Workload(kDevices, std::vector<BytesPerSecond>(2 * kDevices, {kBandwidth}));
}
LinkId up(std::size_t device) {
  return LinkId{2 * device};
}
LinkId down(std::size_t device) {
  return LinkId{2 * device + 1};
}

TEST(Engine, EndsWhenItIsCalledOff) {
  const std::atomic<bool> cancelled{true};
  SimulateOptions options;
  options.cancelled = &cancelled;
  Workload w = on_a_switch();
  w.add_event(1);
  EXPECT_THROW(simulate(w, options), Cancelled);
}

TEST(Ring, WrittenOutAsMessages) {
  Workload w = on_a_switch();
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t d = 0; d < kDevices; ++d) {
      const LinkId links[] = {up(d), down((d + 1) % kDevices)};
      const ActivityId message = w.add_flow(links, kSize / kDevices, kLatency);
      if (round == 0) continue;
      const std::size_t before = (round - 1) * kDevices;
      w.add_dependency(message, ActivityId{before + d});
      w.add_dependency(message, ActivityId{before + (d + kDevices - 1) % kDevices});
    }
  }
  EXPECT_EQ(simulate(w).makespan, kExpected);
}

TEST(Ring, AsOneActivity) {
  Workload w = on_a_switch();
  std::vector<Demand> demands;
  for (std::size_t d = 0; d < kDevices; ++d) {
    demands.push_back({up(d), 1});
    demands.push_back({down(d), 1});
  }
  w.add_flow(demands, kSize * kRounds / kDevices, kRounds * kLatency);
  EXPECT_EQ(simulate(w).makespan, kExpected);
}

}  // namespace
}  // namespace strata
