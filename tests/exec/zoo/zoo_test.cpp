// Networks as people train them, cut every way: after three steps losses, gradients and weights
// are what one device computes. Batches, channels and images are small, but leave batch norms
// enough to average over: with few values per channel the network, not the cut, amplifies rounding.
// Inception-v3, DenseNet-121, MobileNet-v2 and R3D-18 have ELU and average pools in place of ReLU
// and max pools: at their kinks rounding alone moves gradients by more than is allowed.

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/cpu_cluster.h"
#include "sim/cost/cost_model.h"
#include "sim/profile/profile.h"
#include "sim/search/solve.h"
#include "sim/strategy/hybrid.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::Random;
using strata::testing::SmallNetwork;
using strata::testing::Trained;

constexpr double kTolerance = 1e-4;
constexpr std::uint64_t kRandomStrategies = 50;

// By any costs: what is optimal for a GPU is one more strategy here.
Strategy optimal(const Graph& graph, int devices) {
  const Cluster cluster = cpu_cluster(devices);
  const std::shared_ptr<const CostModel> model = make_cost_model(load_profile("p100"));
  Case input{graph, cluster, SyncAlgorithm::ring, DType::fp32, {}};
  input.models.assign(cluster.device_count(), model);
  SolveOptions options;
  options.objective = Objective::eq1;
  return best_strategy(input, options);
}

bool is_transformer(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(), [](const Layer& layer) {
    return std::holds_alternative<Attention>(layer.op);
  });
}

bool has_experts(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(), [](const Layer& layer) {
    return std::holds_alternative<ExpertLinear>(layer.op);
  });
}

std::vector<Strategy> strategies_of_experts(const Graph& graph, int devices) {
  std::vector<Strategy> named;
  const auto add = [&](const char* sizes) {
    named.push_back(hybrid_parallel(graph, devices, sizes));
  };
  if (devices % 2 == 0) {
    for (const char* sizes : {"hybrid:ep=2", "hybrid:tp=2,sp=1,ep=2,etp=1"}) add(sizes);
  }
  if (devices == 4) {
    for (const char* sizes : {"hybrid:tp=2,sp=1,ep=2", "hybrid:tp=2,ep=2,etp=1", "hybrid:cp=2,ep=2",
                              "hybrid:tp=4,sp=1,ep=2,etp=1"}) {
      add(sizes);
    }
  }
  return named;
}

std::vector<Strategy> named_strategies(const Graph& graph, int devices) {
  std::vector<Strategy> named = {data_parallel(graph, devices), model_parallel(graph, devices),
                                 owt_parallel(graph, devices), optimal(graph, devices)};
  if (!is_transformer(graph) || devices % 2 != 0) return named;
  for (const char* sizes : {"hybrid:tp=2,sp=1", "hybrid:cp=2", "hybrid:cp=2,cp_by=heads"}) {
    named.push_back(hybrid_parallel(graph, devices, sizes));
  }
  if (devices != 4) return named;
  for (const char* sizes : {"hybrid:tp=2,sp=1,cp=2", "hybrid:tp=2,sp=1,cp=2,cp_by=heads"}) {
    named.push_back(hybrid_parallel(graph, devices, sizes));
  }
  return named;
}

class Zoo : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  Zoo() : graph_(strata::testing::build(GetParam())) {
    one_ = strata::testing::train(graph_, data_parallel(graph_, 1), 1, SyncAlgorithm::ring);
  }

  void expect_as_one_device(const Strategy& strategy, int devices, const GradientSync& sync) const {
    const Trained cut = strata::testing::train(graph_, strategy, devices, sync);
    const auto found = strata::testing::differences(graph_, cut, one_, kTolerance);
    EXPECT_TRUE(found.empty()) << strategy.name() << " on " << devices << " devices, "
                               << name(sync.algorithm) << ": " << found.size() << " differ\n"
                               << ::testing::PrintToString(found);
  }

  Graph graph_;
  Trained one_;
};

TEST_P(Zoo, ComputesTheSameUnderNamedStrategies) {
  for (int devices : {1, 2, 3, 4}) {
    for (const Strategy& strategy : named_strategies(graph_, devices)) {
      expect_as_one_device(strategy, devices, SyncAlgorithm::ring);
    }
    if (!has_experts(graph_)) continue;
    for (const Strategy& strategy : strategies_of_experts(graph_, devices)) {
      expect_as_one_device(strategy, devices, SyncAlgorithm::ring);
    }
  }
}

TEST_P(Zoo, ComputesTheSameUnderRandomStrategies) {
  for (std::uint64_t seed = 0; seed < kRandomStrategies; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto devices = static_cast<int>(1 + seed % 4);
    const Strategy strategy =
        strata::testing::random_strategy(random, graph_, static_cast<std::size_t>(devices));
    expect_as_one_device(strategy, devices, strata::testing::ways_to_sum()[seed % 3]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Zoo,
    ::testing::Values(
        SmallNetwork{"lenet5"}, SmallNetwork{"textcnn"}, SmallNetwork{"alexnet", 4, 127, 8},
        SmallNetwork{"resnet18", 4, 96, 8}, SmallNetwork{"inception_v3", 4, 139, 8, true},
        SmallNetwork{"densenet121", 4, 96, 8, true}, SmallNetwork{"mobilenet_v2", 4, 96, 8, true},
        SmallNetwork{"r3d_18", 4, 32, 8, true}, SmallNetwork{"gated", 6}, SmallNetwork{"normed", 6},
        SmallNetwork{strata::testing::kSmallGpt}, SmallNetwork{strata::testing::kSmallLlama},
        SmallNetwork{strata::testing::kSmallBert}, SmallNetwork{strata::testing::kSmallVit},
        strata::testing::kSmallQwen, strata::testing::kSmallGemma, strata::testing::kSmallFalcon,
        strata::testing::kSmallOlmo, strata::testing::kSmallNeox, strata::testing::kSmallMixtral,
        strata::testing::kSmallDeepseek, strata::testing::kSmallDeepseekV3,
        strata::testing::kSmallLatent, strata::testing::kSmallOss, strata::testing::kSmallT5,
        strata::testing::kSmallWhisper),
    [](const auto& tested) { return strata::testing::title(tested.param); });

}  // namespace
}  // namespace strata
