// A device a process, with GPUs that talk to their peers: threads stand for the processes. Losses,
// gradients and weights are what one CPU device computes, and all ranks know the same.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/base/error.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/thread_ranks.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"
#include "tests/sim/plan/random_case.h"

namespace strata::cuda {
namespace {

using strata::testing::SmallNetwork;

Plan plan_for_ranks(const Graph& graph, const Strategy& strategy, const GradientSync& sync,
                    std::size_t count) {
  std::vector<GpuDevice> devices;
  for (std::size_t d = 0; d < count; ++d) {
    devices.push_back({static_cast<int>(d), "cuda" + std::to_string(d), "host"});
  }
  LowerOptions options;
  options.sync = sync;
  return lower(graph, gpu_cluster("cuda", devices), strategy, options);
}

CudaBackend own_backend(const Ranks& ranks) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < ranks.size(); ++d) names.push_back("cuda" + std::to_string(d));
  return CudaBackend(OneOfSeveral{DeviceId(ranks.rank()), static_cast<int>(ranks.rank()), names},
                     Precision::fp32);
}

class RanksOnGpus : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  RanksOnGpus() : graph_(strata::testing::build(GetParam())) {
    one_ = strata::testing::train(graph_, data_parallel(graph_, 1), 1, SyncAlgorithm::ring);
    host::set_gpus(4);
  }

  // No process reaches another's memory.
  void expect_as_on_one_cpu(const Strategy& strategy, const GradientSync& sync,
                            std::size_t count) const {
    const Plan plan = plan_for_ranks(graph_, strategy, sync, count);
    std::vector<strata::testing::Trained> trained(count);
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < a; ++b) host::keep_apart(a, b);
    }
    on_ranks(count, [&](const Ranks& ranks) {
      CudaBackend backend = own_backend(ranks);
      StreamExecutor executor(graph_, plan, backend, strata::testing::training_options(), &ranks);
      trained[ranks.rank()] = strata::testing::train(executor, graph_);
    });
    host::join_all();
    for (const auto& of_rank : trained) {
      const auto found = strata::testing::differences(graph_, of_rank, one_, 1e-4);
      EXPECT_TRUE(found.empty()) << strategy.name() << " on " << count << ", "
                                 << name(sync.algorithm) << ": " << ::testing::PrintToString(found);
      EXPECT_EQ(of_rank.losses, trained.front().losses);
      EXPECT_EQ(of_rank.weights, trained.front().weights);
    }
  }

  Graph graph_;
  strata::testing::Trained one_;
};

TEST_P(RanksOnGpus, TrainAsOnOneCpu) {
  std::uint64_t seed = 0;
  for (std::size_t count : {2U, 4U}) {
    const auto devices = static_cast<int>(count);
    for (const Strategy& strategy :
         {data_parallel(graph_, devices), model_parallel(graph_, devices),
          owt_parallel(graph_, devices)}) {
      for (const GradientSync& sync : strata::testing::ways_to_sum()) {
        host::draw_orders_from(++seed);
        expect_as_on_one_cpu(strategy, sync, count);
      }
    }
  }
}

TEST_P(RanksOnGpus, TrainWhateverReplicasShare) {
  std::uint64_t seed = 0;
  for (const GradientSync& sync : strata::testing::ways_to_share()) {
    host::draw_orders_from(++seed);
    expect_as_on_one_cpu(data_parallel(graph_, 3), sync, 3);
  }
}

TEST_P(RanksOnGpus, TrainUnderRandomStrategies) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    strata::testing::Random random(seed);
    host::draw_orders_from(seed);
    const std::size_t count = 2 + seed % 3;
    expect_as_on_one_cpu(strata::testing::random_strategy(random, graph_, count),
                         strata::testing::ways_to_sum()[seed / 2], count);
  }
}

class BlocksOnRanks : public RanksOnGpus {};

// What a segment reads of another process is sent once its gradients have come: joins, which no
// process does, stand between.
TEST_P(BlocksOnRanks, AreComputedAgain) {
  for (const char* sizes : {"hybrid:tp=4", "hybrid:tp=2,pp=2"}) {
    const Strategy strategy = hybrid_parallel(graph_, 4, sizes);
    host::draw_orders_from(1);
    expect_as_on_one_cpu(strategy.with(segments(graph_, Recompute::full, {})), SyncAlgorithm::ring,
                         4);
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, BlocksOnRanks,
                         ::testing::Values(SmallNetwork{strata::testing::kSmallLlama}),
                         [](const auto& test) { return strata::testing::title(test.param); });

// Spans of all ranks are in one clock, and bytes are counted once.
TEST_P(RanksOnGpus, KnowTheSameTimelineAndBytes) {
  const Plan plan = plan_for_ranks(graph_, model_parallel(graph_, 2), SyncAlgorithm::ring, 2);
  std::vector<Execution> done(2);
  const NetworkWeights weights = strata::testing::weights_to_train(graph_);
  const Dataset data = strata::testing::data_to_train(graph_);
  on_ranks(2, [&](const Ranks& ranks) {
    CudaBackend backend = own_backend(ranks);
    StreamExecutor executor(graph_, plan, backend, strata::testing::training_options(), &ranks);
    for (std::size_t k = 0; k < graph_.size(); ++k) executor.set_parameters(LayerId(k), weights[k]);
    done[ranks.rank()] = executor.run(
        1, [&](std::uint64_t step) { return data.batch(step); }, nullptr);
  });
  EXPECT_EQ(done[0].moved, communication(plan));
  EXPECT_EQ(done[1].moved, done[0].moved);
  EXPECT_GT(done[0].plain_loops->products, 0);
  EXPECT_EQ(done[1].plain_loops->products, done[0].plain_loops->products);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Span& span = done[0].timeline.span(0, TaskId(i));
    EXPECT_EQ(done[1].timeline.span(0, TaskId(i)), span);
    EXPECT_GT(span.end, Seconds{});
    EXPECT_LE(span.ready, span.start);
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, RanksOnGpus,
                         ::testing::Values(SmallNetwork{"lenet5"},
                                           SmallNetwork{"resnet18", 8, 32, 8, true}),
                         [](const auto& test) { return std::string(test.param.name); });

// A rank that leaves does not leave the others waiting.
TEST(RanksThatFail, EndTheOthers) {
  EXPECT_THROW(on_ranks(3,
                        [](const Ranks& ranks) {
                          if (ranks.rank() == 1) throw EnvironmentError("lost");
                          ranks.any(false);
                        }),
               Error);
}

}  // namespace
}  // namespace strata::cuda
