// A batch cut in time: losses, gradients and weights are what one device makes of the whole batch
// at once, whatever the cut in space and in which order the stages compute their rounds.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "sim/base/error.h"
#include "sim/step/shared_readings.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"
#include "sim/strategy/stages.h"
#include "tests/exec/runtime/failing_backend.h"
#include "tests/exec/zoo/in_rounds.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::differences;
using strata::testing::InRounds;
using strata::testing::Random;
using strata::testing::SmallNetwork;
using strata::testing::Trained;

constexpr double kTolerance = 1e-4;

void expect_as_at_once(const Graph& graph, const Strategy& strategy, int devices,
                       const InRounds& how, const Trained& at_once) {
  const Trained trained = strata::testing::train_in_rounds(graph, strategy, devices, how);
  const std::vector<std::string> found = differences(graph, trained, at_once, kTolerance);
  EXPECT_TRUE(found.empty()) << how.rounds << " rounds of " << graph.name() << " on " << devices
                             << " devices: " << ::testing::PrintToString(found);
}

class RandomRounds : public ::testing::TestWithParam<int> {
 protected:
  // On one, two and four devices, in the usual order and in gpipe's, layers computed again or not,
  // state, gradients and parameters shared among replicas or not.
  void expect_as_at_once_however_cut(const Graph& graph) {
    InRounds how;
    how.rounds = 2 + static_cast<std::uint32_t>(GetParam()) % 3;
    how.optimizer = GetParam() % 2 == 0 ? Optimizer::sgd : Optimizer::momentum;
    const Trained at_once = strata::testing::train_at_once(graph, how);
    for (int devices : {1, 2, 4}) {
      how.sync = strata::testing::ways_to_sum()[static_cast<std::size_t>(devices) % 3];
      if (how.sync.algorithm != SyncAlgorithm::ps) {
        how.sync.zero = static_cast<Zero>((GetParam() + devices) % 4);
      }
      how.schedule = {};
      if (devices == 2) how.schedule.kind = ScheduleKind::gpipe;
      Strategy strategy =
          strata::testing::random_strategy(random_, graph, static_cast<std::size_t>(devices));
      if ((GetParam() + devices) % 3 != 0) strategy = strategy.with(random_segments(graph));
      expect_as_at_once(graph, strategy, devices, how, at_once);
    }
  }

  // Runs of up to four layers, half of which are computed again.
  Segments random_segments(const Graph& graph) {
    Segments segments;
    for (std::uint32_t segment = 1; segments.size() < graph.size(); ++segment) {
      const bool again = strata::testing::pick(random_, 0, 1) == 1;
      const auto count = static_cast<std::size_t>(strata::testing::pick(random_, 1, 4));
      segments.insert(segments.end(), count, again ? segment : 0);
    }
    segments.resize(graph.size());
    return segments;
  }

  Random random_{static_cast<std::uint64_t>(GetParam())};
};

TEST_P(RandomRounds, OfANetworkTrainAsTheWholeBatch) {
  expect_as_at_once_however_cut(strata::testing::random_graph(random_));
}

TEST_P(RandomRounds, OfATransformerTrainAsTheWholeBatch) {
  expect_as_at_once_however_cut(strata::testing::random_transformer(random_));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRounds, ::testing::Range(0, 40));

constexpr ScheduleKind kGpipe = ScheduleKind::gpipe, kOneFOneB = ScheduleKind::one_f_one_b;
constexpr ScheduleKind kInterleaved = ScheduleKind::interleaved, kZbH1 = ScheduleKind::zb_h1;
constexpr ScheduleKind kZbV = ScheduleKind::zb_v;

/// Chunks on devices, and a schedule for them.
struct Pipelined {
  std::string_view title;
  std::vector<std::vector<std::size_t>> chunks;
  std::vector<ScheduleKind> schedules;
  int devices;
  std::uint32_t rounds;
};

class Pipelines : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  static void expect_as_at_once_in(const Pipelined& it) {
    const Graph graph = strata::testing::build(GetParam());
    const Strategy strategy = strata::testing::in_chunks(graph, it.chunks);
    ASSERT_EQ(stages_of(graph, strategy).chunks.size(), it.chunks.size());
    InRounds how;
    how.rounds = it.rounds;
    const Trained at_once = strata::testing::train_at_once(graph, how);
    for (ScheduleKind kind : it.schedules) {
      SCOPED_TRACE(std::string(it.title) + " by " + std::string(name(kind)));
      how.schedule.kind = kind;
      expect_as_at_once(graph, strategy, it.devices, how, at_once);
    }
  }
};

TEST_P(Pipelines, OfTwoStages) {
  expect_as_at_once_in({"two devices", {{0}, {1}}, {kGpipe, kOneFOneB, kZbH1}, 2, 3});
  expect_as_at_once_in({"two by two devices", {{0, 1}, {2, 3}}, {kGpipe, kOneFOneB, kZbH1}, 4, 2});
}

// What replicas of a stage share is shared in all rounds, and forward passes are computed again
// beside those of other rounds.
TEST_P(Pipelines, OfTwoStagesThatShareAndComputeAgain) {
  const Graph graph = strata::testing::build(GetParam());
  const Strategy strategy = strata::testing::in_chunks(graph, {{0, 1}, {2, 3}});
  Segments again(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    again[i] =
        1 + static_cast<std::uint32_t>(1000 * strategy[LayerId(i)].devices.front()() + i / 5);
  }
  InRounds how;
  how.rounds = 3;
  const Trained at_once = strata::testing::train_at_once(graph, how);
  for (const Zero zero : {Zero::state, Zero::gradients, Zero::parameters}) {
    for (const ScheduleKind kind : {kGpipe, kOneFOneB, kZbH1}) {
      SCOPED_TRACE(std::string(name(zero)) + " by " + std::string(name(kind)));
      how.sync.zero = zero;
      how.schedule.kind = kind;
      expect_as_at_once(graph, strategy.with(again), 4, how, at_once);
    }
  }
}

TEST_P(Pipelines, OfFourStages) {
  expect_as_at_once_in({"four devices", {{0}, {1}, {2}, {3}}, {kGpipe, kOneFOneB, kZbH1}, 4, 4});
}

TEST_P(Pipelines, OfSeveralChunks) {
  expect_as_at_once_in({"by turns", {{0}, {1}, {0}, {1}}, {kGpipe, kInterleaved}, 2, 4});
  expect_as_at_once_in({"in a V", {{0}, {1}, {1}, {0}}, {kGpipe, kZbV}, 2, 4});
}

TEST(Rounds, OfAdamMakeOneStep) {
  const Graph graph = strata::testing::build({"lenet5"});
  InRounds how{.rounds = 3, .optimizer = Optimizer::adam};
  const Trained at_once = strata::testing::train_at_once(graph, how);
  expect_as_at_once(graph, strata::testing::in_chunks(graph, {{0}, {1}}), 2, how, at_once);
  for (const Zero zero : {Zero::nothing, Zero::state, Zero::gradients, Zero::parameters}) {
    SCOPED_TRACE(name(zero));
    how.sync.zero = zero;
    expect_as_at_once(graph, strata::testing::in_chunks(graph, {{0, 1}}), 2, how, at_once);
  }
}

// Of blocks whose input a norm and a residual sum read, which crosses once for both.
TEST(Rounds, OfBlocksOnTwoStagesTrainAsTheWholeBatch) {
  const Graph graph = strata::testing::build({strata::testing::kSmallGpt});
  InRounds how{.rounds = 3};
  const Trained at_once = strata::testing::train_at_once(graph, how);
  for (const char* sizes : {"hybrid:pp=2", "hybrid:pp=2,tp=2", "hybrid:pp=2,tp=2,sp=1"}) {
    SCOPED_TRACE(sizes);
    const int devices = std::string_view(sizes) == "hybrid:pp=2" ? 2 : 4;
    const Strategy strategy = hybrid_parallel(graph, devices, sizes);
    ASSERT_FALSE(shared_readings(graph, strategy, stages_of(graph, strategy)).empty());
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      const Strategy again = strategy.with(segments(graph, recompute, {}));
      for (const ScheduleKind kind : {kGpipe, kOneFOneB, kZbH1}) {
        how.schedule.kind = kind;
        expect_as_at_once(graph, again, devices, how, at_once);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Pipelines,
                         ::testing::Values(SmallNetwork{"lenet5"}, SmallNetwork{"gated"},
                                           SmallNetwork{"normed"},
                                           SmallNetwork{strata::testing::kSmallGpt},
                                           SmallNetwork{strata::testing::kSmallLlama},
                                           strata::testing::kSmallQwen),
                         [](const auto& test) { return strata::testing::title(test.param); });

// Of a stage, as schedules have it: "0F0 0B0".
std::vector<Instance> read_order(std::string_view text) {
  std::vector<Instance> order;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t pass = std::string_view("FBIW").find(text[at + 1]);
    order.push_back({static_cast<std::uint32_t>(text[at] - '0'),
                     static_cast<std::uint32_t>(text[at + 2] - '0'),
                     static_cast<strata::Pass>(pass)});
  }
  return order;
}

// The first stage has both users of the embedding's weight, in two chunks.
TEST(Rounds, OfLayersThatShareAWeightAddToOneGradient) {
  GraphBuilder builder("tied", 4);
  const LayerId tokens = builder.add("tokens", Input{{{1, 1, 1, 1, 6}}}, {});
  LayerId at = builder.add("embedding", Embedding{12, 8}, {tokens});
  at = builder.add("first", Linear{8}, {at});
  at = builder.add("gelu", Activation{ActivationKind::gelu}, {at});
  at = builder.add("norm", LayerNorm{}, {at});
  at = builder.add("second", Linear{8}, {at});
  at = builder.add("dropout", Dropout{0.3}, {at});
  Linear head{12, false};
  head.weight_of = "embedding";
  at = builder.add("head", head, {at});
  builder.add("loss", SoftmaxCrossEntropy{}, {at});
  const Graph graph = std::move(builder).build();
  const Strategy strategy = strata::testing::in_chunks(graph, {{0}, {1}, {1}, {0}});
  InRounds how{.rounds = 2};
  const Trained at_once = strata::testing::train_at_once(graph, how);
  for (ScheduleKind kind : {kGpipe, kZbV}) {
    how.schedule.kind = kind;
    expect_as_at_once(graph, strategy, 2, how, at_once);
  }
  // The embedding's own gradients come before those that the head adds.
  how.schedule.own = {read_order("0F0 0F1 3F0 3F1 3I0 3I1 0I0 0I1 0W0 0W1 3W1 3W0"),
                      read_order("1F0 1F1 2F0 2F1 2B0 2B1 1I0 1I1 1W1 1W0")};
  expect_as_at_once(graph, strategy, 2, how, at_once);
}

// An order of nobody's: all forward passes first, the last round's before the others'.
TEST(Rounds, MayComeInAnyOrder) {
  const Graph graph = strata::testing::build({strata::testing::kSmallLlama});
  const Strategy strategy = strata::testing::in_chunks(graph, {{0}, {1}});
  InRounds how{.rounds = 3};
  how.schedule.own = {read_order("0F2 0F0 0F1 0B1 0B2 0B0"), read_order("1F2 1F0 1F1 1B1 1B2 1B0")};
  expect_as_at_once(graph, strategy, 2, how, strata::testing::train_at_once(graph, how));
}

TEST(Rounds, AreNamedWhereATaskFails) {
  const Graph graph = strata::testing::build({"lenet5"});
  const InRounds how{.rounds = 3, .schedule = {kGpipe, {}, {}}};
  const Strategy strategy = strata::testing::in_chunks(graph, {{0}});
  const Plan plan = strata::testing::plan_in_rounds(graph, strategy, 1, how);
  const auto of_a_round =
      std::count_if(plan.tasks().begin(), plan.tasks().end(), [](const Task& t) {
        return t.kind == TaskKind::compute && t.phase <= Phase::forward && t.round == 0;
      });
  strata::testing::FailingBackend backend(1);
  backend.at_kernel(of_a_round, [] { throw RunFailed("it was asked to"); });
  Executor executor(graph, plan, backend, strata::testing::options_in_rounds(how));
  try {
    strata::testing::train_in_rounds(executor, graph, how);
    FAIL() << "nothing was thrown";
  } catch (const RunFailed& error) {
    EXPECT_EQ(error.message(),
              "step 0: layer conv1: forward, round 1, shard 0 on cpu0: it was asked to");
  }
}

}  // namespace
}  // namespace strata
