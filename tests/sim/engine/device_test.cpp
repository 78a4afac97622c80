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

}  // namespace
}  // namespace strata
