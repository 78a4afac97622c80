#include <gtest/gtest.h>

#include "sim/engine/engine.h"

namespace strata {
namespace {

const DeviceId kDevice{0u};

Workload two_devices() {
  return Workload(2, {});
}

TEST(Device, RunsOneAtATimeTheFirstReadyFirst) {
  Workload w = two_devices();
  w.add_compute(kDevice, 10);
  const ActivityId late = w.add_compute(kDevice, 10), early = w.add_compute(kDevice, 10);
  w.set_not_before(late, 5);
  w.set_not_before(early, 4);
  const ActivityTimes times = simulate(w);
  EXPECT_EQ(times.ready, (std::vector<Tick>{0, 5, 4}));
  EXPECT_EQ(times.start, (std::vector<Tick>{0, 20, 10}));
  EXPECT_EQ(times.end, (std::vector<Tick>{10, 30, 20}));
}

TEST(Device, BreaksTiesById) {
  Workload w = two_devices();
  for (Tick d : {3, 1, 2}) w.add_compute(kDevice, d);
  EXPECT_EQ(simulate(w).start, (std::vector<Tick>{0, 3, 4}));
}

TEST(Device, TakesTheLeastPriorityFirstAndInterruptsNothing) {
  Workload w = two_devices();
  w.add_compute(kDevice, 10, 7);
  const ActivityId urgent = w.add_compute(kDevice, 10, 1);
  w.add_compute(kDevice, 10, 7);
  w.set_not_before(urgent, 5);
  EXPECT_EQ(simulate(w).start, (std::vector<Tick>{0, 10, 20}));
}

// B becomes ready in the instant in which A frees the device: it takes part in the choice.
TEST(Device, ChoosesAmongAllThatAreReadyAtThatTime) {
  Workload w = two_devices();
  const ActivityId a = w.add_compute(kDevice, 10, 5);
  w.add_compute(kDevice, 10, 5);
  const ActivityId b = w.add_compute(kDevice, 10, 1);
  const ActivityId join = w.add_event();
  w.add_dependency(join, a);
  w.add_dependency(b, join);
  EXPECT_EQ(simulate(w).start, (std::vector<Tick>{0, 20, 10, 10}));
}

TEST(Device, RunsActivitiesWithoutDurationInTheirInstant) {
  Workload w = two_devices();
  const ActivityId first = w.add_compute(kDevice, 0);
  const ActivityId last = w.add_compute(DeviceId{1u}, 4);
  w.add_compute(kDevice, 0);
  w.add_dependency(last, first);
  EXPECT_EQ(simulate(w).end, (std::vector<Tick>{0, 4, 0}));
}

TEST(Event, JoinsItsDependenciesThenWaits) {
  Workload w = two_devices();
  const ActivityId a = w.add_compute(kDevice, 3), b = w.add_compute(DeviceId{1u}, 5);
  const ActivityId join = w.add_event(10);
  w.add_dependency(join, a);
  w.add_dependency(join, b);
  w.set_delay(join, 2);
  const ActivityTimes times = simulate(w);
  EXPECT_EQ(times.ready[join()], 7);
  EXPECT_EQ(times.end[join()], 17);
}

// The delay counts from the last dependency; not_before is a floor under the sum.
TEST(Event, IsReadyAfterItsDelayButNotBefore) {
  Workload w = two_devices();
  const ActivityId a = w.add_event(10), b = w.add_event(), c = w.add_event();
  for (ActivityId id : {b, c}) {
    w.add_dependency(id, a);
    w.set_delay(id, 5);
  }
  w.set_not_before(b, 12);
  w.set_not_before(c, 18);
  EXPECT_EQ(simulate(w).ready, (std::vector<Tick>{0, 15, 18}));
}

// 3 ticks of work alone, 4 under a flow at half of the speed, and the rest of the 10 after it.
TEST(Device, IsSlowedByAFlowWhileItMovesBytes) {
  const BytesPerSecond tick{kTicksPerSecond};  // a byte a tick
  Workload w(2, {&tick, 1});
  const LinkId link{0u};
  const ActivityId slowed = w.add_compute(kDevice, 10), other = w.add_compute(DeviceId{1u}, 10);
  const ActivityId flow = w.add_flow({&link, 1}, 4, 3);
  const DeviceId devices[] = {kDevice};
  w.slow(flow, w.add_device_set(devices), 0.5);
  const ActivityTimes times = simulate(w);
  EXPECT_EQ(times.end[flow()], 7);
  EXPECT_EQ(times.end[slowed()], 12);
  EXPECT_EQ(times.end[other()], 10);
  EXPECT_EQ(times.makespan, 12);
}

// The end that it would have had without the flow is later than its end with a free device.
TEST(Device, EndsWhenItsWorkIsDoneHoweverOftenItsSpeedChanges) {
  const BytesPerSecond tick{kTicksPerSecond};
  Workload w(1, {&tick, 1});
  const LinkId link{0u};
  const std::uint32_t all = w.add_device_set(std::vector<DeviceId>{kDevice});
  const ActivityId work = w.add_compute(kDevice, 100);
  const ActivityId next = w.add_compute(kDevice, 10);
  ActivityId before;
  for (int i = 0; i < 5; ++i) {
    const ActivityId flow = w.add_flow({&link, 1}, 8, 2);
    w.slow(flow, all, 0.75);
    if (before.valid()) w.add_dependency(flow, before);
    before = flow;
  }
  const ActivityTimes times = simulate(w);
  EXPECT_EQ(times.end[before()], 50);
  EXPECT_EQ(times.end[work()], 50 + 100 - (5 * 2 + 5 * 2));
  EXPECT_EQ(times.end[next()], times.end[work()] + 10);
}

}  // namespace
}  // namespace strata
