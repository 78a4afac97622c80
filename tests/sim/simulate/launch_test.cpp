// Hosts that launch what devices compute: a device whose kernels are shorter waits for its host,
// and one whose kernels are longer does not.

#include <gtest/gtest.h>

#include "../plan/random_case.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/breakdown.h"
#include "two_layers.h"

namespace strata {
namespace {

Runtime with(const Launches& launches) {
  Runtime runtime;
  runtime.launches = launches;
  return runtime;
}

TEST(Launches, ADeviceWaitsForALongerLaunch) {
  const Graph graph = two_layers(8);
  const Strategy alone = data_parallel(graph, 1);
  // Forward passes of a and b begin at 20 and 40 ms, the loss's two parts at 60 and 80; from there
  // on nothing waits: 30 ms of backward passes and 4 of updates.
  const Outcome r = run(graph, testing::star(1), alone, 3, with({.forward = {20 * kMs}}));
  EXPECT_NEAR(r.timeline.step_seconds().value, 114 * kMs, 1e-12);
  EXPECT_NEAR(r.timeline.makespan().value, 3 * 114 * kMs, 1e-12);
  const StepParts parts = breakdown(r.plan, r.timeline).mean;
  EXPECT_NEAR(parts.compute.value, 50 * kMs, 1e-12);
  EXPECT_NEAR(parts.optimizer.value, 4 * kMs, 1e-12);
  EXPECT_NEAR(parts.launch.value, 60 * kMs, 1e-12);
  EXPECT_NEAR(parts.bubble.value, 0, 1e-12);
}

TEST(Launches, AHostRunsAheadOfALongerKernel) {
  const Graph graph = two_layers(8);
  const Strategy alone = data_parallel(graph, 1);
  const Launches launches{{1 * kMs}, {1 * kMs}, {1 * kMs}, {}};
  // Of 54 ms, and the first launch of each step.
  const Outcome r = run(graph, testing::star(1), alone, 3, with(launches));
  EXPECT_NEAR(r.timeline.step_seconds().value, 55 * kMs, 1e-12);
  EXPECT_NEAR(breakdown(r.plan, r.timeline).mean.launch.value, 1 * kMs, 1e-12);
}

TEST(Launches, EachDeviceHasAHostOfItsOwn) {
  const Graph graph = two_layers(8);
  const Strategy data = data_parallel(graph, 2);
  const Outcome one = run(graph, testing::star(1), data_parallel(graph, 1), 2,
                          with({.forward = {20 * kMs}, .backward = {15 * kMs}}));
  const Outcome two =
      run(graph, testing::star(2), data, 2, with({.forward = {20 * kMs}, .backward = {15 * kMs}}));
  const double alone = one.timeline.step_seconds().value, both = two.timeline.step_seconds().value;
  EXPECT_GE(both, alone);
  EXPECT_LE(both, alone + 1.125 * kMs);  // its sums
}

// The device ends its forward passes at 20 ms. By then a host that runs ahead has launched two of
// the backward phases, the loss's and b's; one that waits launches these until 40 ms.
TEST(Launches, AHostWaitsBetweenPasses) {
  const Graph graph = two_layers(8);
  const Strategy alone = data_parallel(graph, 1);
  Launches launches{.backward = {10 * kMs}};
  const double ahead =
      run(graph, testing::star(1), alone, 3, with(launches)).timeline.step_seconds().value;
  launches.wait_for_passes = true;
  const double waits =
      run(graph, testing::star(1), alone, 3, with(launches)).timeline.step_seconds().value;
  EXPECT_NEAR(ahead, 54 * kMs, 1e-12);
  EXPECT_NEAR(waits, ahead + 20 * kMs, 1e-12);
}

// Of four devices' sums nothing is added; each of two layers is summed once a step.
TEST(Launches, ManyHostsWaitForTheSlowest) {
  const Graph graph = two_layers(8);
  const auto seconds = [&](int devices, Seconds lockstep) {
    const Strategy data = data_parallel(graph, devices);
    const Launches launches{.communication = {20 * kMs}, .lockstep = lockstep};
    return run(graph, testing::star(devices), data, 3, with(launches))
        .timeline.step_seconds()
        .value;
  };
  EXPECT_EQ(seconds(4, {100 * kMs}), seconds(4, {}));
  EXPECT_NEAR(seconds(8, {100 * kMs}) - seconds(8, {}), 2 * 100 * kMs, 50 * kMs);
}

}  // namespace
}  // namespace strata
