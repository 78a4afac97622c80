// A small ResNet-50, cut over two devices that make one mistake each: every one of them is found by
// comparing layers, and a cut without any is found to be right. STRATA_CHECK_ZOO=full takes the
// network whole.

#include "tests/exec/check/planted_errors.h"

#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/check/checked.h"
#include "tests/exec/zoo/small_network.h"

namespace strata {
namespace {

using strata::testing::Planted;
using strata::testing::PlantedError;

Graph resnet() {
  return strata::testing::whole_networks() ? build_zoo("resnet50", 4)
                                           : strata::testing::build({"resnet50", 4, 64, 8});
}

Strategy cut(const Graph& graph, const std::string& name) {
  if (name == "rows") return strata::testing::row_parallel(graph, 2);
  return name == "owt" ? owt_parallel(graph, 2) : data_parallel(graph, 2);
}

class PlantedErrors : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedErrors, AreFound) {
  const PlantedError error = strata::testing::planted_errors()[GetParam()];
  const Graph graph = resnet();
  const LayerCheck check = strata::testing::checked_layers(
      {graph, cut(graph, error.strategy), 2, error.sync, error.planted});
  ASSERT_FALSE(check.beyond.empty());
  const TensorDifference& first = check.beyond.front();
  if (!error.first.empty()) {
    EXPECT_EQ(fmt::format("step {}: {}", first.step, first.what), error.first);
  }
  RecordProperty("found", strata::testing::failures(check));
}

INSTANTIATE_TEST_SUITE_P(ResNet50, PlantedErrors,
                         ::testing::Range<std::size_t>(0, strata::testing::planted_errors().size()),
                         [](const auto& tested) {
                           return strata::testing::planted_errors()[tested.param].name;
                         });

TEST(CheckOfLayers, FindsNothingWhereNothingIsWrong) {
  const Graph graph = resnet();
  for (const char* name : {"rows", "data", "owt"}) {
    for (const GradientSync& sync :
         {GradientSync(SyncAlgorithm::ring), GradientSync(SyncAlgorithm::ring, kUsualBucket),
          GradientSync(SyncAlgorithm::ps)}) {
      const LayerCheck check = strata::testing::checked_layers({graph, cut(graph, name), 2, sync});
      EXPECT_EQ(strata::testing::failures(check), "") << name;
      EXPECT_EQ(check.layers, graph.size() - 1);
    }
  }
}

// The head of the second stage has a copy of the embedding, and serves some of its parts.
TEST(CheckOfLayers, LooksAtAServersGradientsWhicheverStageItIsOn) {
  const Graph graph = strata::testing::build({strata::testing::kSmallGpt});
  const Strategy strategy = hybrid_parallel(graph, 4, "hybrid:pp=2,tp=2");
  for (const SyncAlgorithm sync : {SyncAlgorithm::ps, SyncAlgorithm::ring}) {
    const LayerCheck check = strata::testing::checked_layers({graph, strategy, 4, sync});
    EXPECT_EQ(strata::testing::failures(check), "") << name(sync);
  }
}

// A round's outputs are compared with the same round's, and gradients once all have added to them.
TEST(CheckOfLayers, FollowsEachRound) {
  const Graph graph = build_zoo("lenet5", 4);
  strata::testing::CheckedCase rounds{graph, data_parallel(graph, 2)};
  rounds.rounds = 3;
  EXPECT_EQ(strata::testing::failures(strata::testing::checked_layers(rounds)), "");
  const auto first_found = [&](const auto& plant) {
    rounds.planted.kernel = [&plant](strata::testing::KernelCall& call) {
      if (call.layer == "conv2") plant(call);
      call.run();
    };
    const LayerCheck check = strata::testing::checked_layers(rounds);
    return check.beyond.empty() ? ""
                                : check.beyond.front().layer + ": " + check.beyond.front().what;
  };
  EXPECT_EQ(first_found([](auto& call) { call.operands.adds_parameter_gradients = false; }),
            "conv2: parameter gradients");
  std::vector<float> none(4000);
  EXPECT_EQ(first_found([&](auto& call) {
              const bool second = call.phase == Phase::forward && call.operands.step->round == 1;
              if (second) call.operands.parameters = none.data();
            }),
            "conv2: output, round 1");
}

// Each replica updates its interval, from gradients of which it has no more; all put together are a
// layer's. The tied embedding has copies on both stages.
TEST(CheckOfLayers, PutsTogetherTheGradientsThatReplicasShare) {
  const Graph gpt = strata::testing::build({strata::testing::kSmallGpt});
  const Graph lenet = build_zoo("lenet5", 4);
  for (const Zero zero : {Zero::state, Zero::gradients}) {
    SCOPED_TRACE(name(zero));
    GradientSync sync(SyncAlgorithm::ring, kUsualBucket);
    sync.zero = zero;
    strata::testing::CheckedCase tied{gpt, hybrid_parallel(gpt, 4, "hybrid:pp=2"), 4, sync};
    tied.rounds = 2;
    EXPECT_EQ(strata::testing::failures(strata::testing::checked_layers(tied)), "");
    strata::testing::CheckedCase wrong{lenet, data_parallel(lenet, 2), 2, sync};
    LayerCheck check = strata::testing::checked_layers(wrong);
    EXPECT_EQ(strata::testing::failures(check), "");
    EXPECT_EQ(check.layers, lenet.size() - 1);
    wrong.planted.kernel = [](strata::testing::KernelCall& call) {
      call.run();
      const bool last = call.layer == "conv2" && call.operands.parameter_gradients != nullptr;
      if (last) call.operands.parameter_gradients[0] += 1;
    };
    check = strata::testing::checked_layers(wrong);
    ASSERT_FALSE(check.beyond.empty());
    EXPECT_EQ(check.beyond.front().layer, "conv2");
    EXPECT_EQ(check.beyond.front().what, "parameter gradients");
  }
}

TEST(CheckOfLayers, TellsHowFarItIs) {
  const Graph graph = build_zoo("lenet5", 4);
  std::vector<std::size_t> done;
  std::vector<double> losses;
  strata::testing::checked_layers({graph, data_parallel(graph, 2)},
                                  [&](std::size_t steps, std::size_t of, double loss) {
                                    EXPECT_EQ(of, 2u);
                                    done.push_back(steps);
                                    losses.push_back(loss);
                                  });
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(losses[0], 0);
  EXPECT_GT(losses[1], 0);
  EXPECT_GT(losses[2], 0);
}

TEST(CheckOfTraining, AllowsWhatRoundingDoes) {
  const Graph graph = resnet();
  const Check check = strata::testing::checked({graph, data_parallel(graph, 2)}, 3);
  EXPECT_EQ(strata::testing::failures(check), "");
  EXPECT_GT(check.differences.gradients.value, check.tolerance);
  ASSERT_TRUE(check.rounding);
  EXPECT_GE(check.units, 1u);
}

TEST(CheckOfTraining, FailsWhereALayerDoesThoughTheTrainingIsNear) {
  const Graph graph = resnet();
  Planted planted;  // of a loss that nobody goes on from
  planted.kernel = [](strata::testing::KernelCall& call) {
    call.run();
    if (call.operands.loss != nullptr) call.operands.loss->loss *= 1 + 5e-5;
  };
  const Check check = strata::testing::checked(
      {graph, data_parallel(graph, 2), 2, SyncAlgorithm::ring, planted}, 1);
  EXPECT_TRUE(check.near());
  EXPECT_EQ(check.verdict(), CheckVerdict::failed);
}

}  // namespace
}  // namespace strata
