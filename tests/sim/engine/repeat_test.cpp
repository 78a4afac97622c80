// Workloads that repeat: the copies are what adding everything again would make, and simulating the
// first period alone, where that is allowed, tells the times that simulating all of them does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_workload.h"
#include "sim/engine/engine.h"

namespace strata {
namespace {

const std::vector<BytesPerSecond> kTwoLinks = {{1e9}, {2e9}};

TEST(Repeat, AddsEverythingAgain) {
  Workload w(2, kTwoLinks);
  const ActivityId a = w.add_compute(DeviceId{1u}, 10, 3);
  const ActivityId b = w.add_flow(std::vector<LinkId>{LinkId{1u}}, 5e6, 7);
  w.add_dependency(b, a);
  w.repeat(2, std::vector<Dependency>{{a, b}}, 100);

  ASSERT_EQ(w.size(), 6u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(w.duration(ActivityId{2 * k}), 10);
    EXPECT_EQ(w.device(ActivityId{2 * k}), DeviceId{1u});
    EXPECT_EQ(w.priority(ActivityId{2 * k}), 3 + 100 * k);
    EXPECT_EQ(w.bytes(ActivityId{2 * k + 1}), 5e6);
    EXPECT_EQ(w.latency(ActivityId{2 * k + 1}), 7);
  }
  const auto dependency = [](std::size_t later, std::size_t earlier) {
    return Dependency{ActivityId{later}, ActivityId{earlier}};
  };
  EXPECT_THAT(w.dependencies(),
              testing::ElementsAre(dependency(1, 0), dependency(3, 2), dependency(2, 1),
                                   dependency(5, 4), dependency(4, 3)));
  w.set_duration(ActivityId{4u}, 11);
  EXPECT_EQ(simulate(w).makespan, 10 + 10 + 11 + 3 * (7 + 5'000'000'000 / 2));
}

// The copy of the computation takes 20, and the event's waits for the first computation, 10 + 5.
TEST(Repeat, CopiesMayDiffer) {
  Workload w(1, kTwoLinks);
  const ActivityId computed = w.add_compute(DeviceId{0u}, 10);
  w.add_event(5);
  w.repeat(1, {}, 1);
  w.add_dependency(ActivityId{3u}, computed);
  w.set_duration(ActivityId{2u}, 20);

  EXPECT_THAT(w.dependencies(), testing::ElementsAre(Dependency{ActivityId{3u}, computed}));
  EXPECT_EQ(w.duration(computed), 10);
  EXPECT_THAT(simulate(w).end, testing::ElementsAre(10, 5, 30, 15));
}

struct Periods {
  Workload workload;
  std::size_t period;
};

// Each period waits for all, or for some, of the one before it.
Periods random_periods(std::uint64_t seed, std::size_t more = 0) {
  std::mt19937_64 random(seed);
  Workload w = RandomWorkload(seed).without_delays().with_distinct_priorities().make();
  const std::size_t size = w.size();
  const bool for_all = seed % 2 == 0;
  const ActivityId end = w.add_event();
  for (std::size_t a = 0; a < size; ++a) w.add_dependency(end, ActivityId{a});
  std::vector<Dependency> across;
  for (std::size_t a = 0; a < size; ++a) {
    if (for_all || random() % 8 != 0) across.push_back({ActivityId{a}, end});
    if (random() % 4 == 0) across.push_back({ActivityId{a}, ActivityId{random() % size}});
  }
  const std::size_t period = w.size();
  w.repeat(1 + more + random() % 3, across, period);
  return {std::move(w), period};
}

TEST(Repeat, TheFirstPeriodTellsOfAll) {
  std::size_t told = 0, told_though_some_wait_for_less = 0;
  const std::size_t cases = 4000;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const auto [workload, period] = random_periods(seed);
    const ActivityTimes expected = simulate(workload);
    SimulateOptions options;
    options.period = period;
    ActivityTimes times = simulate(workload, options);
    if (times.repeats()) {
      ++told;
      told_though_some_wait_for_less += seed % 2;
      times = all_periods(workload, times);
    }
    ASSERT_EQ(times, expected) << "seed " << seed;
  }
  EXPECT_GT(told, cases / 4);
  EXPECT_LT(told, cases * 3 / 4);
  EXPECT_GT(told_though_some_wait_for_less, 100u);
}

// What begins before the first period has ended may begin otherwise than it did in that; then all
// goes on a period's time later, in every one from the second on.
TEST(Repeat, ThePeriodsSettle) {
  std::size_t told = 0;
  // Flows of seed 28447 share links in the first period that they do not share later.
  for (std::uint64_t seed = 24001; seed <= 32000; ++seed) {
    const auto [workload, period] = random_periods(seed, 4);
    SimulateOptions options;
    options.period = period;
    const bool repeats = simulate(workload, options).repeats();
    options.settles = true;
    const ActivityTimes first = simulate(workload, options);
    if (repeats || !first.repeats()) continue;
    ++told;
    ASSERT_EQ(first.end.size(), 2 * period) << "seed " << seed;
    const ActivityTimes all = simulate(workload);
    const ActivityTimes told_of_all = all_periods(workload, first);
    const auto starts = [](const std::vector<Tick>& times, const std::vector<Tick>& more) {
      return std::equal(times.begin(), times.end(), more.begin());
    };
    ASSERT_TRUE(starts(first.ready, all.ready)) << "seed " << seed;
    ASSERT_TRUE(starts(first.start, all.start)) << "seed " << seed;
    ASSERT_TRUE(starts(first.end, all.end)) << "seed " << seed;
    const std::size_t settled = workload.size() - period;
    ASSERT_TRUE(std::equal(all.end.begin(), all.end.begin() + static_cast<std::ptrdiff_t>(settled),
                           told_of_all.end.begin()))
        << "seed " << seed;
    // The last one has no other behind it, which would begin before it has ended.
    for (std::size_t a = 2 * period; a < workload.size() - period; ++a) {
      ASSERT_EQ(all.end[a], all.end[a - period] + first.makespan) << "seed " << seed;
    }
  }
  EXPECT_GT(told, 10u);
}

// The last activity of the period takes no time: when it ends, another device chooses at the same
// moment, before it is known what the end releases.
TEST(Repeat, AnotherDeviceMayBeginWhileThePeriodEnds) {
  Workload w(2, kTwoLinks);
  const DeviceId x{0u}, y{1u};
  const ActivityId d = w.add_compute(x, 2, 0), a = w.add_compute(y, 1, 1),
                   b = w.add_compute(y, 1, 2), c = w.add_compute(x, 0, 3);
  w.repeat(1, std::vector<Dependency>{{a, c}, {b, a}, {d, c}, {c, c}}, 4);
  SimulateOptions options;
  options.period = 4;
  ActivityTimes times = simulate(w, options);
  if (times.repeats()) times = all_periods(w, times);
  EXPECT_EQ(times, simulate(w));
}

}  // namespace
}  // namespace strata
