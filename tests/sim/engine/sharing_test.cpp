#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/engine/engine.h"

namespace strata {
namespace {

constexpr Tick kSecond = 1'000'000'000'000;
constexpr Tick kMicrosecond = 1'000'000;

Workload with_links(std::vector<double> bandwidths) {
  std::vector<BytesPerSecond> links;
  for (double b : bandwidths) links.push_back({b});
  return Workload(1, links);
}

ActivityId flow(Workload& w, std::vector<Demand> demands, double bytes, Tick latency = 0) {
  return w.add_flow(demands, bytes, latency);
}

// Links u and v of 10 GB/s in a row; A (1 GB) over both, B (1 GB) over u, C (0.5 GB) over v. All
// three move at 5 GB/s: C ends at 0.5 / 5 = 0.1 s. Then v has room, but u still holds A and B to
// 5 GB/s each: both end at 1 / 5 = 0.2 s.
TEST(Sharing, FlowHeldBackElsewhereDoesNotUseTheRoomThatIsLeft) {
  Workload w = with_links({10e9, 10e9});
  flow(w, {{LinkId{0}}, {LinkId{1}}}, 1e9);
  flow(w, {{LinkId{0}}}, 1e9);
  flow(w, {{LinkId{1}}}, 0.5e9);
  const ActivityTimes times = simulate(w);
  EXPECT_EQ(times.end, (std::vector<Tick>{kSecond / 5, kSecond / 5, kSecond / 10}));
  EXPECT_EQ(times.makespan, kSecond / 5);
}

// Eight senders of 10 MB, each over a link of its own into one link of 12.5 GB/s, 1 us along each
// path: the shared link moves 80 MB in 0.0064 s, after 1 us.
TEST(Sharing, EightSendersIntoOneLink) {
  Workload w = with_links(std::vector<double>(9, 12.5e9));
  for (std::size_t s = 0; s < 8; ++s) flow(w, {{LinkId{s}}, {LinkId{8}}}, 10e6, kMicrosecond);
  EXPECT_EQ(simulate(w).end, std::vector<Tick>(8, 6401 * kMicrosecond));
}

// On a link of 9 B/s, weights 1 and 2: max-min in x gives both x = 3. The first (3 B) ends at 1 s;
// the second has 6 - 3 B left and then x = 9 / 2: it ends at 1 + 3 / 4.5 s.
TEST(Sharing, WeightsMultiplyWhatAFlowUses) {
  Workload w = with_links({9});
  flow(w, {{LinkId{0}, 1}}, 3);
  flow(w, {{LinkId{0}, 2}}, 6);
  const ActivityTimes times = simulate(w);
  EXPECT_EQ(times.end, (std::vector<Tick>{kSecond, kSecond + 666'666'666'667}));
}

// Links A (10 B/s) and B (1 B/s). The first flow uses 1e9 of each for a rate of 1: B holds it to
// 1e-9 B/s, which leaves 9 B/s of A to the second flow, of weight 1e-9: it moves at 9e9 B/s. As
// doubles, 1e9 + 1e-9 - 1e9 is 0: the sum of the weights on A keeps nothing of the second one.
TEST(Sharing, AWeightLostInASumStillCounts) {
  Workload w = with_links({10, 1});
  flow(w, {{LinkId{0}, 1e9}, {LinkId{1}, 1e9}}, 1e-6);
  flow(w, {{LinkId{0}, 1e-9}}, 9e9);
  EXPECT_EQ(simulate(w).end, (std::vector<Tick>{1000 * kSecond, kSecond}));
}

// The same with a weight of which the sum keeps some bits, and not all.
TEST(Sharing, AWeightOfFewBitsInASumStillCounts) {
  Workload w = with_links({10, 1});
  flow(w, {{LinkId{0}, 1e9}, {LinkId{1}, 1e9}}, 1e-6);
  flow(w, {{LinkId{0}, 3e-7}}, 3e7);
  EXPECT_EQ(simulate(w).end, (std::vector<Tick>{1000 * kSecond, kSecond}));
}

TEST(Sharing, RefusesWeightsAndBandwidthsWithoutAFiniteRate) {
  Workload w = with_links({1e9});
  EXPECT_THROW(flow(w, {{LinkId{0}, 1e-320}}, 1), InputError);
  EXPECT_THROW(flow(w, {{LinkId{0}, 1e300}}, 1), InputError);
  EXPECT_THROW(with_links({1e300}), InputError);
  EXPECT_THROW(with_links({1e-300}), InputError);
}

// A starts when B ends, in the same instant: C never sees the link alone or shared by three.
TEST(Sharing, FlowThatStartsWhenAnotherEndsTakesItsPlace) {
  Workload w = with_links({8e9});
  const ActivityId b = flow(w, {{LinkId{0}}}, 1e9);
  const ActivityId a = flow(w, {{LinkId{0}}}, 1e9);
  flow(w, {{LinkId{0}}}, 2e9);
  w.add_dependency(a, b);
  std::vector<RateChange> changes;
  const ActivityTimes times = simulate(w, {&changes});
  EXPECT_EQ(times.end, (std::vector<Tick>{kSecond / 4, kSecond / 2, kSecond / 2}));
  EXPECT_EQ(changes, (std::vector<RateChange>{{0, ActivityId{0u}, 4e9},
                                              {0, ActivityId{2u}, 4e9},
                                              {kSecond / 4, ActivityId{1u}, 4e9}}));
}

// While it pays its latency a flow leaves the link to the other: 1 GB at 10 GB/s takes 0.1 s.
TEST(Sharing, LatencyUsesNoBandwidth) {
  Workload w = with_links({10e9});
  flow(w, {{LinkId{0}}}, 1e9, kSecond / 10);
  flow(w, {{LinkId{0}}}, 1e9);
  EXPECT_EQ(simulate(w).end, (std::vector<Tick>{kSecond / 5, kSecond / 10}));
}

TEST(Sharing, NoBytesOrNoLinksCostOnlyTheLatency) {
  Workload w = with_links({10e9});
  flow(w, {{LinkId{0}}}, 0, 7);
  flow(w, {}, 1e9, 9);
  flow(w, {}, 0);
  EXPECT_EQ(simulate(w).end, (std::vector<Tick>{7, 9, 0}));
}

// A change far away solves nothing here: 50 pairs of flows on links of their own, each pair's
// first end touches only its own link.
TEST(Sharing, ChangesAreSolvedOnlyWhereTheyReach) {
  Workload w = with_links(std::vector<double>(50, 1e9));
  for (std::size_t l = 0; l < 50; ++l) {
    flow(w, {{LinkId{l}}}, 1e6 * static_cast<double>(l + 1));
    flow(w, {{LinkId{l}}}, 1e9);
  }
  EngineStatistics statistics;
  simulate(w, {nullptr, &statistics});
  EXPECT_EQ(statistics.events, 100u);
  // Each link's problem is solved with two flows, then with one.
  EXPECT_EQ(statistics.rate_solves, 100u);
  EXPECT_EQ(statistics.flows_resolved, 150u);
}

TEST(Sharing, RefusesWhatWouldTakeLongerThanTheClockHolds) {
  Workload w = with_links({1e-3});
  flow(w, {{LinkId{0}}}, 1e9);
  EXPECT_THROW(simulate(w), InputError);
}

}  // namespace
}  // namespace strata
