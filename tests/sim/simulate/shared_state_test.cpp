// What replicas share (ZeRO), simulated: halves of sums, updates of intervals, gathers ahead.

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../plan/random_case.h"
#include "sim/timeline/memory.h"
#include "two_layers.h"

namespace strata {
namespace {

// The sums of two layers' gradients (DataParallelismHidesASyncBehindTheBackwardPass), each in two
// halves, between which a replica updates half of the parameters in half the time. The gathers come
// when nothing is left to sum, a's first.
TEST(SharedState, HalvesSumsAndUpdates) {
  const Graph graph = two_layers(8);
  const Outcome r =
      run(graph, testing::star(2), data_parallel(graph, 2), 1, Overlap::allowed, Zero::state);
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Task& task = r.plan[TaskId(i)];
    const Span& span = r.timeline.span(0, TaskId(i));
    const bool is_b = graph[task.layer].name == "b";
    if (task.kind == TaskKind::compute && task.phase == Phase::update) {
      EXPECT_NEAR(span.start.value, (is_b ? 50 : 51) * kMs, 1e-12);
      EXPECT_NEAR(span.duration().value, 1 * kMs, 1e-12);
    }
    if (task.kind != TaskKind::collective) continue;
    const bool sums = r.plan.groups()[task.detail].work == GroupWork::reduce_scatter;
    const double start = sums ? (is_b ? 40 : 50) : (is_b ? 52.25 : 52);
    EXPECT_NEAR(span.start.value, start * kMs, 1e-12);
    EXPECT_NEAR(span.duration().value, (is_b ? 0.3125 : 0.25) * kMs, 1e-12);
  }
  EXPECT_NEAR(r.timeline.makespan().value, 52.5625 * kMs, 1e-12);
  // The next step begins beside b's gather.
  const Outcome steps =
      run(graph, testing::star(2), data_parallel(graph, 2), 6, Overlap::allowed, Zero::state);
  EXPECT_NEAR(steps.timeline.step_seconds().value, 52.25 * kMs, 1e-12);
}

// Gathered one ahead, the parameters of a are all that the first step waits for, and b's half of
// what each pass needs is there in time.
TEST(SharedState, ParametersAreGatheredAhead) {
  const Graph graph = two_layers(8);
  const Outcome r =
      run(graph, testing::star(2), data_parallel(graph, 2), 1, Overlap::allowed, Zero::parameters);
  // a's gather; 50 ms of passes; a's sum beside b's update, and a's update.
  EXPECT_NEAR(r.timeline.makespan().value, (0.25 + 50 + 1 + 1) * kMs, 1e-12);
}

TEST(SharedState, ParametersAreThereTwoBucketsAtATime) {
  GraphBuilder builder("deep", 8);
  LayerId last = builder.add("data", Input{{{1, 1000, 1, 1, 1}}}, {});
  for (int i = 0; i < 8; ++i) {
    last = builder.add(fmt::format("fc{}", i), FullyConnected{1000, false}, {last});
  }
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  const Graph graph = std::move(builder).build();
  const Outcome r =
      run(graph, testing::star(2), data_parallel(graph, 2), 2, Overlap::allowed, Zero::parameters);
  std::vector<Lifetime> there;
  for (std::size_t i = 0; i < r.plan.buffers().size(); ++i) {
    const Buffer& buffer = r.plan.buffers()[i];
    if (buffer.kind != BufferKind::gathered_parameters || buffer.device() != 0) continue;
    there.push_back(lifetime(r.plan, r.timeline, 1, BufferId(i)));
  }
  ASSERT_EQ(there.size(), 16U);
  for (const Lifetime& a : there) {
    EXPECT_LE(
        std::count_if(there.begin(), there.end(),
                      [&](const Lifetime& b) { return b.from <= a.from && a.from < b.until; }),
        2);
  }
}

}  // namespace
}  // namespace strata
