// Networks on GPUs that nobody shares: what arrives and what is summed goes beside what devices
// compute, in any order that the streams' events allow, and between GPUs that don't reach one
// another's memory, too. Losses, gradients and weights are what one CPU device computes.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/plan/lower.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"
#include "tests/sim/plan/random_case.h"

namespace strata::cuda {
namespace {

using strata::testing::differences;
using strata::testing::Random;
using strata::testing::SmallNetwork;
using strata::testing::Trained;

constexpr double kAgreement = 1e-4;

using Gpus = std::vector<int>;  // by device

Cluster cluster_of(const Gpus& gpus) {
  std::vector<GpuDevice> devices;
  for (std::size_t d = 0; d < gpus.size(); ++d) {
    devices.push_back({gpus[d], device_name(gpus, d), "host"});
  }
  return gpu_cluster("cuda", devices);
}

Plan plan_on(const Gpus& gpus, const Graph& graph, const Strategy& strategy,
             const GradientSync& sync) {
  LowerOptions options;
  options.sync = sync;
  return lower(graph, cluster_of(gpus), strategy, options);
}

Trained train_on(const Gpus& gpus, const Graph& graph, const Plan& plan) {
  CudaBackend backend(gpus, Precision::fp32);
  StreamExecutor executor(graph, plan, backend, strata::testing::training_options());
  Trained trained = strata::testing::train(executor, graph);
  EXPECT_EQ(backend.order().marks_missed(), 0U);
  return trained;
}

Execution run_on(const Gpus& gpus, const Graph& graph, const Plan& plan, std::size_t steps) {
  CudaBackend backend(gpus, Precision::fp32);
  StreamExecutor executor(graph, plan, backend, strata::testing::training_options());
  const NetworkWeights weights = strata::testing::weights_to_train(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) executor.set_parameters(LayerId(i), weights[i]);
  const Dataset data = strata::testing::data_to_train(graph);
  return executor.run(
      steps, [&](std::uint64_t step) { return data.batch(step); }, nullptr);
}

class CopyEngines : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  CopyEngines() : graph_(strata::testing::build(GetParam())) {
    one_ = strata::testing::train(graph_, data_parallel(graph_, 1), 1, SyncAlgorithm::ring);
    host::set_gpus(4);
  }
  ~CopyEngines() override { host::join_all(); }

  void expect_as_on_one_cpu(const Gpus& gpus, const Strategy& strategy,
                            const GradientSync& sync) const {
    const Trained trained = train_on(gpus, graph_, plan_on(gpus, graph_, strategy, sync));
    const std::vector<std::string> found = differences(graph_, trained, one_, kAgreement);
    EXPECT_TRUE(found.empty()) << strategy.name() << " on " << ::testing::PrintToString(gpus)
                               << ", " << name(sync.algorithm) << ": "
                               << ::testing::PrintToString(found);
  }

  void expect_all_strategies(const Gpus& gpus) const {
    const auto devices = static_cast<int>(gpus.size());
    std::uint64_t seed = 0;
    for (const Strategy& strategy :
         {data_parallel(graph_, devices), model_parallel(graph_, devices),
          owt_parallel(graph_, devices)}) {
      for (const GradientSync& sync : strata::testing::ways_to_sum()) {
        host::draw_orders_from(++seed);
        expect_as_on_one_cpu(gpus, strategy, sync);
      }
    }
  }

  Graph graph_;
  Trained one_;
};

TEST_P(CopyEngines, TrainAsOnOneCpu) {
  for (const Gpus& gpus : {Gpus{0, 1}, Gpus{3, 0, 1, 2}}) expect_all_strategies(gpus);
}

// Two devices share a GPU and sum by hand, what the third has to do with them, too.
TEST_P(CopyEngines, TrainBesideDevicesThatShareAGpu) {
  expect_all_strategies({0, 0, 1});
}

TEST_P(CopyEngines, TrainOutOfReach) {
  host::keep_apart(0, 1);
  host::keep_apart(2, 1);
  expect_all_strategies({0, 1, 2});
  expect_all_strategies({1, 0, 0});
}

TEST_P(CopyEngines, TrainUnderRandomStrategiesInRandomOrders) {
  const std::vector<Gpus> lists = {{0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 1, 1}};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    host::join_all();
    if (seed % 3 == 0) host::keep_apart(0, 1);
    host::draw_orders_from(seed);
    const Gpus& gpus = lists[seed % lists.size()];
    const GradientSync& sync = strata::testing::ways_to_sum()[seed / 2 % 3];
    expect_as_on_one_cpu(gpus, strata::testing::random_strategy(random, graph_, gpus.size()), sync);
  }
}

// Each step moves what the plan says; a task starts when what it waits for has ended, and a group's
// participants together.
TEST_P(CopyEngines, CountAndTimeWhatThePlanMoves) {
  const Gpus gpus = {0, 1, 2};
  host::draw_orders_from(7);
  for (const Strategy& strategy : {data_parallel(graph_, 3), model_parallel(graph_, 3)}) {
    const Plan plan = plan_on(gpus, graph_, strategy, SyncAlgorithm::ring);
    const Execution done = run_on(gpus, graph_, plan, 2);
    const Communication step = communication(plan);
    EXPECT_EQ(done.moved.transfer, step.transfer + step.transfer);
    EXPECT_EQ(done.moved.sync, step.sync + step.sync);
    EXPECT_EQ(done.moved.statistics, step.statistics + step.statistics);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const Span& span = done.timeline.span(1, TaskId(i));
      EXPECT_LE(span.ready, span.start);
      EXPECT_LE(span.start, span.end);
      EXPECT_GT(span.end, Seconds{});
      if (plan[TaskId(i)].kind != TaskKind::collective) continue;
      for (TaskId peer : plan.groups()[plan[TaskId(i)].detail].tasks) {
        EXPECT_EQ(done.timeline.span(1, peer).start, span.start);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, CopyEngines,
                         ::testing::Values(SmallNetwork{"lenet5"},
                                           SmallNetwork{"alexnet", 4, 64, 16},
                                           SmallNetwork{"resnet18", 8, 32, 8, true}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace strata::cuda
