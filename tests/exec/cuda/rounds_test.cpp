// A batch cut in time, on streams that work in any order that their events allow: what one CPU
// device makes of the whole batch at once.

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/zoo/in_rounds.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/sim/plan/random_case.h"

namespace strata::cuda {
namespace {

using strata::testing::in_chunks;
using strata::testing::InRounds;
using strata::testing::SmallNetwork;
using strata::testing::Trained;

class Rounds : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  void SetUp() override {
    how_.rounds = 3;
    how_.runs = {2, 3};
    at_once_ = strata::testing::train_at_once(graph_, how_);
  }

  // On so many devices of one GPU each, which copy by engines.
  Plan plan_for(const Strategy& strategy, const std::vector<int>& gpus) const {
    std::vector<GpuDevice> devices;
    for (std::size_t d = 0; d < gpus.size(); ++d) {
      devices.push_back({gpus[d], device_name(gpus, d), "host"});
    }
    return strata::testing::plan_in_rounds(graph_, gpu_cluster("cuda", devices), strategy, how_);
  }

  // Each device has a GPU.
  void expect_as_at_once(const Strategy& strategy, int devices, bool recorded = false) {
    std::vector<int> gpus(static_cast<std::size_t>(devices));
    std::iota(gpus.begin(), gpus.end(), 0);
    expect_as_at_once_on(gpus, strategy, recorded);
  }

  void expect_as_at_once_on(const std::vector<int>& gpus, const Strategy& strategy, bool recorded) {
    host::draw_orders_from(++seed_);
    const Plan plan = plan_for(strategy, gpus);
    CudaBackend backend(gpus, Precision::fp32);
    ExecutionOptions options = strata::testing::options_in_rounds(how_);
    options.recorded = recorded;
    StreamExecutor executor(graph_, plan, backend, options);
    const Trained trained = strata::testing::train_in_rounds(executor, graph_, how_);
    EXPECT_TRUE(strata::testing::moved_as_planned(trained, plan));
    EXPECT_EQ(trained.played.end - trained.played.begin, recorded ? 2U : 0U);
    const auto found = strata::testing::differences(graph_, trained, at_once_, 1e-4);
    EXPECT_TRUE(found.empty()) << gpus.size() << " devices: " << ::testing::PrintToString(found);
  }

  Graph graph_ = strata::testing::build(GetParam());
  InRounds how_;
  Trained at_once_;
  std::uint64_t seed_ = 0;
};

TEST_P(Rounds, TrainOnStreamsAsTheWholeBatch) {
  expect_as_at_once(in_chunks(graph_, {{0}}), 1);
  expect_as_at_once(in_chunks(graph_, {{0, 1}}), 2);
  for (const GradientSync& sync : strata::testing::ways_to_sum()) {
    how_.sync = sync;
    strata::testing::Random random(++seed_);
    expect_as_at_once(strata::testing::random_strategy(random, graph_, 3), 3);
  }
}

TEST_P(Rounds, TrainInEveryOrderOfStages) {
  for (ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::zb_h1}) {
    SCOPED_TRACE(name(kind));
    how_.schedule.kind = kind;
    expect_as_at_once(in_chunks(graph_, {{0}, {1}}), 2);
    expect_as_at_once(in_chunks(graph_, {{0, 1}, {2, 3}}), 4);
  }
}

TEST_P(Rounds, ArePlayedFromARecording) {
  how_.schedule.kind = ScheduleKind::gpipe;
  expect_as_at_once(in_chunks(graph_, {{0}, {1}}), 2, true);
}

class Blocks : public Rounds {};

// What a segment reads of another device is sent once its gradients have come: joins, which no
// device does, stand between.
TEST_P(Blocks, AreComputedAgain) {
  for (const char* sizes : {"hybrid:tp=4", "hybrid:tp=2,pp=2", "hybrid:tp=2,sp=1,pp=2"}) {
    const Strategy strategy =
        hybrid_parallel(graph_, 4, sizes).with(segments(graph_, Recompute::full, {}));
    for (const std::vector<int>& gpus : {std::vector<int>(4), std::vector<int>{0, 1, 2, 3}}) {
      for (bool recorded : {false, true}) {
        SCOPED_TRACE(std::string(sizes) + " on " + ::testing::PrintToString(gpus));
        expect_as_at_once_on(gpus, strategy, recorded);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Blocks,
                         ::testing::Values(SmallNetwork{strata::testing::kSmallGpt},
                                           SmallNetwork{strata::testing::kSmallLlama}),
                         [](const auto& test) { return strata::testing::title(test.param); });

INSTANTIATE_TEST_SUITE_P(Zoo, Rounds,
                         ::testing::Values(SmallNetwork{"lenet5"}, SmallNetwork{"gated"},
                                           SmallNetwork{"normed"},
                                           SmallNetwork{strata::testing::kSmallLlama}),
                         [](const auto& test) { return strata::testing::title(test.param); });

}  // namespace
}  // namespace strata::cuda
