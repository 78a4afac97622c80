// Networks as people train them, on streams that work in any order that their events allow: after
// three steps losses, gradients and weights are what one CPU device computes, under every strategy
// and in every order drawn.

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/base/error.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"
#include "tests/sim/plan/random_case.h"

namespace strata::cuda {
namespace {

using strata::testing::differences;
using strata::testing::SmallNetwork;
using strata::testing::Trained;

constexpr double kTolerance = 1e-4;
// In bf16, with 8 bits of mantissa, losses and weights after three steps; and gradients, which are
// what is left of sums that cancel, and jump where rounding carries a value over a kink.
constexpr double kBf16Tolerance = 0.02, kBf16GradientTolerance = 0.3;

DType dtype_of(Precision precision) {
  return precision == Precision::bf16   ? DType::bf16
         : precision == Precision::tf32 ? DType::tf32
                                        : DType::fp32;
}

/// Data and model parallel and one weird trick; of transformers a hybrid, too.
std::vector<Strategy> named_strategies(const Graph& graph, int devices) {
  std::vector<Strategy> named = {data_parallel(graph, devices), model_parallel(graph, devices),
                                 owt_parallel(graph, devices)};
  const bool attends =
      std::any_of(graph.layers().begin(), graph.layers().end(),
                  [](const Layer& layer) { return std::holds_alternative<Attention>(layer.op); });
  if (attends && devices % 2 == 0) {
    named.push_back(hybrid_parallel(graph, devices, "hybrid:tp=2,sp=1"));
  }
  return named;
}

Trained train_on_streams(const Graph& graph, const Strategy& strategy, int devices,
                         const GradientSync& sync, Precision precision) {
  const Plan plan =
      strata::testing::plan_to_train(graph, strategy, devices, sync, dtype_of(precision));
  const std::vector<int> gpus(static_cast<std::size_t>(devices));
  CudaBackend backend(gpus, precision);
  StreamExecutor executor(graph, plan, backend, strata::testing::training_options());
  Trained trained = strata::testing::train(executor, graph);
  EXPECT_TRUE(strata::testing::moved_as_planned(trained, plan));
  return trained;
}

class Networks : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  Networks() : graph_(strata::testing::build(GetParam())) {
    one_ = strata::testing::train(graph_, data_parallel(graph_, 1), 1, SyncAlgorithm::ring);
  }

  void expect_as_on_one_cpu(const Strategy& strategy, int devices, const GradientSync& sync,
                            Precision precision = Precision::fp32) const {
    const Trained trained = train_on_streams(graph_, strategy, devices, sync, precision);
    std::vector<std::string> found;
    if (precision == Precision::fp32) {
      found = differences(graph_, trained, one_, kTolerance);
    } else {
      found = differences(graph_, trained, one_, kBf16Tolerance);
      std::erase_if(found, [](const std::string& line) { return line.starts_with("gradient"); });
      const auto wide = differences(graph_, trained, one_, kBf16GradientTolerance);
      found.insert(found.end(), wide.begin(), wide.end());
    }
    EXPECT_TRUE(found.empty()) << strategy.name() << " on " << devices << " devices, "
                               << name(sync.algorithm) << ": " << ::testing::PrintToString(found);
  }

  Graph graph_;
  Trained one_;
};

TEST_P(Networks, TrainOnStreamsAsOnOneCpu) {
  std::uint64_t seed = 0;
  for (int devices : {1, 2, 4}) {
    for (const Strategy& strategy : named_strategies(graph_, devices)) {
      for (const GradientSync& sync : strata::testing::ways_to_sum()) {
        host::draw_orders_from(++seed);
        expect_as_on_one_cpu(strategy, devices, sync);
      }
    }
  }
}

TEST_P(Networks, TrainUnderRandomStrategiesInRandomOrders) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    strata::testing::Random random(seed);
    host::draw_orders_from(seed);
    const auto devices = static_cast<int>(2 + seed % 3);
    expect_as_on_one_cpu(strata::testing::random_strategy(random, graph_, devices), devices,
                         strata::testing::ways_to_sum()[seed % 2]);
  }
}

TEST_P(Networks, TrainWhateverReplicasShare) {
  std::uint64_t seed = 0;
  for (const GradientSync& sync : strata::testing::ways_to_share()) {
    for (int devices : {2, 3}) {
      strata::testing::Random random(++seed);
      host::draw_orders_from(seed);
      expect_as_on_one_cpu(data_parallel(graph_, devices), devices, sync);
      expect_as_on_one_cpu(strata::testing::random_strategy(random, graph_, devices), devices,
                           sync);
    }
  }
}

TEST_P(Networks, TrainInBf16) {
  host::draw_orders_from(1);
  expect_as_on_one_cpu(data_parallel(graph_, 1), 1, SyncAlgorithm::ring, Precision::bf16);
  expect_as_on_one_cpu(owt_parallel(graph_, 2), 2, SyncAlgorithm::ring, Precision::bf16);
}

INSTANTIATE_TEST_SUITE_P(
    Zoo, Networks,
    ::testing::Values(SmallNetwork{"lenet5"}, SmallNetwork{"alexnet", 4, 64, 16},
                      SmallNetwork{"vgg16", 4, 32, 16}, SmallNetwork{"resnet18", 8, 32, 8, true},
                      SmallNetwork{"gated", 6}, SmallNetwork{"normed", 6},
                      SmallNetwork{strata::testing::kSmallGpt},
                      SmallNetwork{strata::testing::kSmallLlama},
                      SmallNetwork{strata::testing::kSmallVit}, strata::testing::kSmallQwen,
                      strata::testing::kSmallGemma, strata::testing::kSmallFalcon),
    [](const auto& test) { return strata::testing::title(test.param); });

/// Of the vectors of an embedding, whether each has a gradient.
std::vector<bool> trained_vectors(const Graph& graph, const Trained& trained,
                                  std::string_view name) {
  std::vector<bool> vectors;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    if (layer.name != name) continue;
    const auto& embedding = std::get<Embedding>(layer.op);
    vectors.resize(static_cast<std::size_t>(embedding.vocabulary));
    const auto features = static_cast<std::size_t>(embedding.features);
    for (std::size_t k = 0; k < trained.gradients[i].size(); ++k) {
      if (trained.gradients[i][k] != 0) vectors[k / features] = true;
    }
  }
  return vectors;
}

// bf16 would round these numbers to others, up to 256 of them to one.
TEST(NumbersOfTokens, AreExactInBf16) {
  const Graph graph = strata::testing::build({"bert:layers=1,hidden=8,heads=2,seq=24,vocab=60000"});
  const Strategy one = data_parallel(graph, 1);
  const Trained wanted = strata::testing::train(graph, one, 1, SyncAlgorithm::ring);
  const Trained trained = train_on_streams(graph, one, 1, SyncAlgorithm::ring, Precision::bf16);
  const std::vector<bool> vectors = trained_vectors(graph, wanted, "embedding");
  EXPECT_GT(std::count(vectors.begin(), vectors.end(), true), 80);  // of 4 x 24, some twice
  EXPECT_EQ(trained_vectors(graph, trained, "embedding"), vectors);
  EXPECT_TRUE(differences(graph, trained, wanted, kBf16GradientTolerance).empty());
}

TEST(NumbersOfTokens, AreRefusedInBf16WhereThereAreNoCodes) {
  const auto executor_of = [](std::string_view name, Precision precision) {
    const Graph graph = strata::testing::build({name});
    const Plan plan = strata::testing::plan_to_train(graph, data_parallel(graph, 1), 1,
                                                     SyncAlgorithm::ring, dtype_of(precision));
    CudaBackend backend(std::vector<int>{0}, precision);
    StreamExecutor executor(graph, plan, backend, strata::testing::training_options());
  };
  constexpr std::string_view kMost = "gpt:layers=1,hidden=2,heads=1,seq=4,vocab=65280";
  constexpr std::string_view kMore = "gpt:layers=1,hidden=2,heads=1,seq=4,vocab=65281";
  EXPECT_NO_THROW(executor_of(kMost, Precision::bf16));
  EXPECT_NO_THROW(executor_of(kMore, Precision::tf32));
  try {
    executor_of(kMore, Precision::bf16);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "`dtype` bf16: layer embedding reads numbers up to 65280, of which bf16 holds those "
        "up to 65279 exactly; allowed: fp32, tf32");
  }
}

}  // namespace
}  // namespace strata::cuda
