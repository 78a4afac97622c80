// The whole executor, threads and all, on a fake backend and a fake clock: its measured timeline is
// the simulator's, to the bit.

#include "tests/exec/runtime/fake_backend.h"

#include <gtest/gtest.h>

#include "exec/runtime/executor.h"
#include "sim/simulate/simulate.h"
#include "tests/exec/runtime/drawn_plan.h"

namespace strata {
namespace {

using strata::testing::FakeBackend;
using strata::testing::pick;
using strata::testing::Random;

// So many that no two tasks end at once: what devices do then depends on whose thread is first.
// (Ties are the dispatcher's test.)
constexpr Tick kLongest = 1'000'000'000'000;

struct Durations {
  std::vector<Tick> ticks;
  std::vector<Cost> costs;

  Durations(const Plan& plan, Random& random) : ticks(plan.size()), costs(plan.size()) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (plan[TaskId(i)].stream != Stream::device) continue;
      ticks[i] = pick(random, 1, kLongest);
      costs[i].seconds = to_seconds(ticks[i]);
    }
  }
};

/// Zeros for every input of a network.
class NoData {
 public:
  explicit NoData(const Graph& graph) {
    for (const Layer& layer : graph.layers()) {
      if (!is_input(layer.op)) continue;
      inputs_.emplace_back(static_cast<std::size_t>(volume(layer.output)));
    }
  }
  Batch batch() const {
    Batch batch;
    for (const std::vector<float>& input : inputs_) batch.inputs.emplace_back(input);
    return batch;
  }

 private:
  std::vector<std::vector<float>> inputs_;
};

TEST(FakeBackend, TimesARunAsTheSimulatorPredicts) {
  constexpr std::size_t kSteps = 3;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const strata::testing::DrawnPlan drawn(random);
    const Plan& plan = drawn.plan;
    const Durations durations(plan, random);

    FakeBackend backend(drawn.devices, durations.ticks, seed % 2 == 0);
    Executor executor(drawn.graph, plan, backend);
    const NoData data(drawn.graph);
    const Execution run = executor.run(kSteps, [&](std::uint64_t) { return data.batch(); });
    const Timeline predicted = simulate(plan, drawn.cluster, durations.costs, kSteps);
    ASSERT_EQ(run.timeline.spans(), predicted.spans());
    EXPECT_EQ(run.moved.sync, communication(plan).sync * std::int64_t{kSteps});
  }
}

}  // namespace
}  // namespace strata
