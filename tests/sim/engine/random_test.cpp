#include <thread>

#include <gtest/gtest.h>

#include "tests/sim/engine/random_workload.h"
#include "tests/sim/engine/referee.h"

namespace strata {
namespace {

constexpr std::uint64_t kScenarios = 1000;

void expect_close(const std::vector<Tick>& times, const std::vector<Tick>& expected) {
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t a = 0; a < times.size(); ++a) {
    // One part in 1e9, and one tick: both round to ticks.
    const double tolerance = 1 + 1e-9 * static_cast<double>(expected[a]);
    EXPECT_NEAR(static_cast<double>(times[a]), static_cast<double>(expected[a]), tolerance)
        << "activity " << a;
  }
}

TEST(RandomWorkloads, AgreeWithSolvingEverythingAnew) {
  for (std::uint64_t seed = 0; seed < kScenarios && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Workload w = RandomWorkload(seed).make();
    const ActivityTimes times = simulate(w), expected = simulate_naively(w);
    expect_close(times.ready, expected.ready);
    expect_close(times.start, expected.start);
    expect_close(times.end, expected.end);
  }
}

TEST(RandomWorkloads, AreEqualToTheBitInEveryThread) {
  constexpr std::uint64_t kThreads = 4, kEach = 100;
  std::vector<ActivityTimes> first;
  std::vector<std::vector<RateChange>> first_rates(kEach);
  for (std::uint64_t seed = 0; seed < kEach; ++seed) {
    first.push_back(simulate(RandomWorkload(seed).make(), {&first_rates[seed]}));
  }
  std::vector<std::uint64_t> differences(kThreads);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t seed = 0; seed < kEach; ++seed) {
        std::vector<RateChange> rates;
        const ActivityTimes times = simulate(RandomWorkload(seed).make(), {&rates});
        differences[t] += times != first[seed] || rates != first_rates[seed];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(differences, std::vector<std::uint64_t>(kThreads));
}

// What the fastest flow (4 GB/s at weight 1/4) moves in one tick: the end is rounded to a tick.
constexpr double kOneTick = 16e9 / kTicksPerSecond;

// What a flow moved, summed over its rates, is its bytes; and no link carries more than it can.
TEST(RandomWorkloads, MoveTheirBytesAndOverloadNoLink) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Workload w = RandomWorkload(seed).make();
    std::vector<RateChange> changes;
    const ActivityTimes times = simulate(w, {&changes});
    std::vector<double> moved(w.size()), rate(w.size());
    std::vector<Tick> since(w.size());
    const auto change = [&](std::size_t a, Tick at, double to) {
      moved[a] += rate[a] * to_seconds(at - since[a]).value;
      since[a] = at;
      rate[a] = to;
    };
    for (std::size_t c = 0; c < changes.size(); ++c) {
      change(changes[c].flow(), changes[c].at, changes[c].rate);
      if (c + 1 < changes.size() && changes[c + 1].at == changes[c].at) continue;
      std::vector<double> usage(w.link_bandwidths().size());
      for (std::size_t a = 0; a < w.size(); ++a) {
        if (rate[a] == 0 || times.end[a] <= changes[c].at) continue;
        for (const Demand& d : w.demands(ActivityId{a})) usage[d.link()] += d.weight * rate[a];
      }
      for (std::size_t l = 0; l < usage.size(); ++l) {
        EXPECT_LE(usage[l], w.link_bandwidths()[l].value * (1 + 1e-12));
      }
    }
    for (std::size_t a = 0; a < w.size(); ++a) {
      if (rate[a] == 0) continue;
      change(a, times.end[a], 0);
      EXPECT_NEAR(moved[a], w.bytes(ActivityId{a}), 1e-9 * moved[a] + kOneTick);
    }
  }
}

}  // namespace
}  // namespace strata
