#include "sim/engine/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/engine/engine.h"

namespace strata {
namespace {

const std::vector<BytesPerSecond> kLinks = {{1e9}, {2e9}, {3e9}};

TEST(Workload, GivesBackWhatWasAdded) {
  Workload w(3, kLinks);
  const ActivityId compute = w.add_compute(DeviceId{2u}, 17, 4);
  const std::vector<Demand> demands = {{LinkId{2u}, 0.5}, {LinkId{0u}, 2}};
  const ActivityId flow = w.add_flow(demands, 1.5e9, 23);
  const ActivityId event = w.add_event(5);
  w.add_dependency(event, flow);
  w.set_delay(flow, 6);
  w.set_not_before(compute, 7);

  EXPECT_EQ(w.size(), 3u);
  EXPECT_EQ(w.kind(compute), ActivityKind::compute);
  EXPECT_EQ(w.device(compute), DeviceId{2u});
  EXPECT_EQ(w.duration(compute), 17);
  EXPECT_EQ(w.priority(compute), 4u);
  EXPECT_EQ(w.kind(flow), ActivityKind::flow);
  EXPECT_THAT(w.demands(flow), testing::ElementsAreArray(demands));
  EXPECT_EQ(w.bytes(flow), 1.5e9);
  EXPECT_EQ(w.latency(flow), 23);
  EXPECT_EQ(w.kind(event), ActivityKind::event);
  EXPECT_EQ(w.duration(event), 5);
  EXPECT_EQ(w.delay(flow), 6);
  EXPECT_EQ(w.not_before(compute), 7);
  EXPECT_EQ(w.delay(event) + w.not_before(event) + w.delay(compute) + w.not_before(flow), 0);
  EXPECT_THAT(w.dependencies(), testing::ElementsAre(Dependency{event, flow}));
}

TEST(Workload, KeepsManyRoutesApart) {
  std::vector<BytesPerSecond> links(40, {1e9});
  Workload w(0, links);
  for (std::size_t i = 0; i < 1600; ++i) {
    const std::vector<LinkId> route = {LinkId{i / 40}, LinkId{i % 40}};
    w.add_flow(route, 1, static_cast<Tick>(i % 2));
    w.add_flow(route, 1, static_cast<Tick>(i % 2));
  }
  for (std::size_t i = 0; i < 3200; ++i) {
    const std::size_t r = i / 2;
    EXPECT_THAT(w.demands(ActivityId{i}),
                testing::ElementsAre(Demand{LinkId{r / 40}}, Demand{LinkId{r % 40}}));
    EXPECT_EQ(w.latency(ActivityId{i}), static_cast<Tick>(r % 2));
  }
}

TEST(Workload, RefusesLinksWithoutBandwidth) {
  const std::vector<BytesPerSecond> links = {{1e9}, {0}};
  EXPECT_THROW(Workload(1, links), InputError);
}

TEST(Cycle, IsFoundAmongOthersThatWaitForIt) {
  Workload w(0, {});
  for (int i = 0; i < 6; ++i) w.add_event();
  const std::vector<std::pair<std::size_t, std::size_t>> waits = {{5, 4}, {4, 2}, {2, 3},
                                                                  {3, 1}, {1, 2}, {1, 0}};
  for (auto [later, earlier] : waits) w.add_dependency(ActivityId{later}, ActivityId{earlier});
  EXPECT_THAT(find_cycle(w), testing::ElementsAre(ActivityId{1u}, ActivityId{2u}, ActivityId{3u}));
  try {
    simulate(w);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "activities wait for one another: 1 -> 2 -> 3 -> 1");
  }
}

TEST(Cycle, OfOne) {
  Workload w(0, {});
  const ActivityId a = w.add_event();
  w.add_dependency(a, a);
  EXPECT_THAT(find_cycle(w), testing::ElementsAre(a));
}

TEST(Cycle, IsNotThereInBackwardDependencies) {
  Workload w(0, {});
  for (int i = 0; i < 3; ++i) w.add_event();
  w.add_dependency(ActivityId{0u}, ActivityId{1u});
  w.add_dependency(ActivityId{1u}, ActivityId{2u});
  EXPECT_FALSE(w.in_order());
  EXPECT_TRUE(find_cycle(w).empty());
}

}  // namespace
}  // namespace strata
