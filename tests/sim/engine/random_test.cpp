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

void expect_as_naively(const Workload& w) {
  const ActivityTimes times = simulate(w), expected = simulate_naively(w);
  expect_close(times.ready, expected.ready);
  expect_close(times.start, expected.start);
  expect_close(times.end, expected.end);
  EXPECT_NEAR(static_cast<double>(times.makespan), static_cast<double>(expected.makespan),
              1 + 1e-9 * static_cast<double>(expected.makespan));
}

TEST(RandomWorkloads, AgreeWithSolvingEverythingAnew) {
  for (std::uint64_t seed = 0; seed < kScenarios && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_as_naively(RandomWorkload(seed).make());
  }
}

TEST(RandomWorkloads, AgreeWhereFlowsSlowDevices) {
  for (std::uint64_t seed = 0; seed < kScenarios && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_as_naively(RandomWorkload(seed).with_slowed_devices().make());
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

// What the flows of a simulation move, and what they use of the links.
class Ledger {
 public:
  Ledger(const Workload& w, const ActivityTimes& times)
      : w_(w), times_(times), moved_(w.size()), rate_(w.size()), since_(w.size()) {}

  void change(std::size_t a, Tick at, double to) {
    moved_[a] += rate_[a] * to_seconds(at - since_[a]).value;
    since_[a] = at;
    rate_[a] = to;
  }
  std::vector<double> usage(Tick at) const {
    std::vector<double> usage(w_.link_bandwidths().size());
    for (std::size_t a = 0; a < w_.size(); ++a) {
      if (rate_[a] == 0 || times_.end[a] <= at) continue;
      for (const Demand& d : w_.demands(ActivityId{a})) usage[d.link()] += d.weight * rate_[a];
    }
    return usage;
  }
  double rate(std::size_t a) const { return rate_[a]; }
  double moved(std::size_t a) const { return moved_[a]; }

 private:
  const Workload& w_;
  const ActivityTimes& times_;
  std::vector<double> moved_, rate_;
  std::vector<Tick> since_;
};

// No link carries more than it can, to `tolerance`.
Ledger expect_feasible(const Workload& w, const ActivityTimes& times,
                       const std::vector<RateChange>& changes, double tolerance) {
  Ledger ledger(w, times);
  for (std::size_t c = 0; c < changes.size(); ++c) {
    ledger.change(changes[c].flow(), changes[c].at, changes[c].rate);
    if (c + 1 < changes.size() && changes[c + 1].at == changes[c].at) continue;
    const std::vector<double> usage = ledger.usage(changes[c].at);
    for (std::size_t l = 0; l < usage.size(); ++l) {
      const double used = usage[l] / w.link_bandwidths()[l].value;
      EXPECT_LE(used - 1, tolerance);
    }
  }
  return ledger;
}

// What a flow moved, summed over its rates, is its bytes.
TEST(RandomWorkloads, MoveTheirBytesAndOverloadNoLink) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Workload w = RandomWorkload(seed).make();
    std::vector<RateChange> changes;
    const ActivityTimes times = simulate(w, {&changes});
    Ledger ledger = expect_feasible(w, times, changes, 1e-12);
    for (std::size_t a = 0; a < w.size(); ++a) {
      if (ledger.rate(a) == 0) continue;
      ledger.change(a, times.end[a], 0);
      EXPECT_NEAR(ledger.moved(a), w.bytes(ActivityId{a}), 1e-9 * ledger.moved(a) + kOneTick);
    }
  }
}

// Weights of 1e-15 to 1e3 on one link: their sum loses the small ones, and the flows that they
// belong to end none the less.
TEST(RandomWorkloads, EndWithWeightsThatDifferByManyPowersOfTen) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Workload w = RandomWorkload(seed, Weights::extreme).make();
    std::vector<RateChange> changes;
    const ActivityTimes times = simulate(w, {&changes});
    for (const RateChange& change : changes) EXPECT_GT(change.rate, 0);
    expect_feasible(w, times, changes, 1e-9);
  }
}

}  // namespace
}  // namespace strata
