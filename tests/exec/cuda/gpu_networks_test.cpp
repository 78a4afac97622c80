// The zoo on a GPU, alone and shared by two or four devices: after some steps losses, gradients and
// weights are what one CPU device computes. Under each strategy, and in each precision with its own
// tolerance. Each case says how far off it was: "agreement {JSON}".
//
// Networks are made small as in tests/exec/zoo, which says why deep ones are smooth.

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/cost/cost_model.h"
#include "sim/profile/profile.h"
#include "sim/search/solve.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/cuda/harness.h"
#include "tests/exec/cuda/kept_parts.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"
#include "tests/sim/plan/random_case.h"

namespace strata::cuda {
namespace {

using strata::testing::Apart;
using strata::testing::SmallNetwork;
using strata::testing::Trained;

/// Of losses and weights, and of gradients, which are what is left of sums that cancel. Rounding to
/// 8, 11 and 24 bits of mantissa is what tells them apart; that of each layer adds to those of the
/// others, so that gradients of networks of more than 150 layers may be off by more, in proportion.
struct Tolerance {
  double values = 0, gradients = 0;
};
Tolerance tolerance_of(Precision precision, const Graph& graph) {
  const double depth = std::max(1.0, static_cast<double>(graph.size()) / 150);
  switch (precision) {
    case Precision::tf32:
      return {2.5e-3, 0.04 * depth};
    case Precision::bf16:
      return {0.02, 0.3 * depth};
    default:
      return {1e-4, 1e-4};
  }
}

// By any costs: what is optimal for another GPU is one more strategy here.
Strategy optimal(const Graph& graph, int devices) {
  const Cluster cluster = cpu_cluster(devices);
  Case input{graph, cluster, SyncAlgorithm::ring, DType::fp32, {}};
  input.models.assign(cluster.device_count(), make_cost_model(load_profile("p100")));
  SolveOptions options;
  options.objective = Objective::eq1;
  return best_strategy(input, options);
}

Strategy random_cut(const Graph& graph, int devices, std::uint64_t seed) {
  strata::testing::Random random(seed);
  return strata::testing::random_strategy(random, graph, static_cast<std::size_t>(devices));
}

struct Way {
  std::string strategy;
  int devices = 1;
  Precision precision = Precision::fp32;
  std::string launch = "plain";  ///< or "recorded", "serial", as ExecutionOptions have them
};

Strategy strategy_of(const Way& way, const Graph& graph) {
  if (way.strategy == "model") return model_parallel(graph, way.devices);
  if (way.strategy == "owt") return owt_parallel(graph, way.devices);
  if (way.strategy == "hybrid") return hybrid_parallel(graph, way.devices, "hybrid:tp=2,sp=1");
  if (way.strategy == "optimal") return optimal(graph, way.devices);
  if (way.strategy == "random1") return random_cut(graph, way.devices, 1);
  if (way.strategy == "random2") return random_cut(graph, way.devices, 2);
  return data_parallel(graph, way.devices);
}

// The servers' synchronisation under one strategy; the ring under all others.
SyncAlgorithm sync_of(const Way& way) {
  return way.strategy == "random2" ? SyncAlgorithm::ps : SyncAlgorithm::ring;
}

/// On one device, all strategies are one.
std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const char* strategy : {"data", "model", "owt", "optimal", "random1", "random2"}) {
    for (int devices : {2, 4}) ways.push_back({strategy, devices, Precision::fp32});
  }
  for (Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    ways.push_back({"data", 1, precision});
  }
  for (Precision precision : {Precision::tf32, Precision::bf16}) {
    ways.push_back({"optimal", 4, precision});
  }
  for (const char* launch : {"recorded", "serial"}) {
    ways.push_back({"optimal", 4, Precision::fp32, launch});
  }
  ways.push_back({"data", 1, Precision::fp32, "recorded"});
  return ways;
}

std::vector<SmallNetwork> networks() {
  return {{"lenet5"},
          {"textcnn"},
          {"alexnet", 4, 64, 16},
          {"vgg16", 4, 32, 16},
          {"resnet18", 8, 32, 8, true},
          {"resnet50", 8, 64, 8, true},
          {"resnet101", 8, 128, 8, true},
          {"resnet152", 8, 128, 8, true},
          {"googlenet", 4, 96, 8, true},
          {"inception_v3", 4, 139, 8, true},
          {"densenet121", 4, 96, 8, true},
          {"mobilenet_v2", 8, 128, 8, true},
          {"r3d_18", 4, 32, 8, true}};
}

/// Vocabularies small enough for bf16 to hold their numbers.
std::vector<SmallNetwork> transformers() {
  return {{strata::testing::kSmallGpt},
          {strata::testing::kSmallLlama},
          {strata::testing::kSmallBert},
          {strata::testing::kSmallVit}};
}

std::vector<Way> ways_of_transformers() {
  std::vector<Way> ways = all_ways();
  for (int devices : {2, 4}) ways.push_back({"hybrid", devices, Precision::fp32});
  ways.push_back({"hybrid", 4, Precision::bf16});
  return ways;
}

using Trial = std::tuple<SmallNetwork, Way>;

std::string title_of(const ::testing::TestParamInfo<Trial>& trial) {
  const auto& [network, way] = trial.param;
  return fmt::format("{}_{}_{}_{}_{}", strata::testing::title(network), way.strategy, way.devices,
                     ::testing::PrintToString(way.precision), way.launch);
}

DType dtype_of(Precision precision) {
  return precision == Precision::bf16   ? DType::bf16
         : precision == Precision::tf32 ? DType::tf32
                                        : DType::fp32;
}

class OnGpus : public ::testing::TestWithParam<Trial> {
 protected:
  const Way& way() const { return std::get<Way>(GetParam()); }
  /// Enough for a recording and its playing: the first two and the last are plain.
  std::size_t steps() const { return way().launch == "recorded" ? 5 : 3; }

  Trained train_on_gpu(const Graph& graph) const {
    const Plan plan = strata::testing::plan_to_train(
        graph, strategy_of(way(), graph), way().devices, sync_of(way()), dtype_of(way().precision));
    const std::vector<int> gpus(static_cast<std::size_t>(way().devices));
    ExecutionOptions options = strata::testing::training_options();
    options.recorded = way().launch == "recorded";
    options.serial = way().launch == "serial";
    CudaBackend backend(gpus, kept_parts(gpus), way().precision);
    StreamExecutor executor(graph, plan, backend, options);
    Trained trained = strata::testing::train(executor, graph, steps());
    EXPECT_TRUE(strata::testing::moved_as_planned(trained, plan));
    EXPECT_EQ(trained.played.end - trained.played.begin, options.recorded ? 2 : 0);
    return trained;
  }

  void say(const Apart& apart, const Tolerance& allowed) const {
    fmt::print(
        "agreement {{\"network\": \"{}\", \"strategy\": \"{}\", \"devices\": \"cuda:0/{}\", "
        "\"precision\": \"{}\", \"launch\": \"{}\", \"loss\": {:.3e}, \"gradients\": {:.3e}, "
        "\"weights\": {:.3e}, "
        "\"worst_gradients\": \"{}\", \"tolerance\": {:.1e}, \"gradient_tolerance\": {:.1e}}}\n",
        strata::testing::title(std::get<SmallNetwork>(GetParam())), way().strategy, way().devices,
        ::testing::PrintToString(way().precision), way().launch, apart.loss, apart.gradients,
        apart.weights, apart.worst_gradients, allowed.values, allowed.gradients);
  }
};

TEST_P(OnGpus, TrainAsOnOneCpu) {
  const Graph graph = strata::testing::build(std::get<SmallNetwork>(GetParam()));
  const Trained one =
      strata::testing::train(graph, data_parallel(graph, 1), 1, SyncAlgorithm::ring, steps());
  const Apart apart = strata::testing::apart(graph, train_on_gpu(graph), one);
  const Tolerance allowed = tolerance_of(way().precision, graph);
  say(apart, allowed);
  EXPECT_LE(apart.loss, allowed.values);
  EXPECT_LE(apart.weights, allowed.values) << apart.worst_weights;
  EXPECT_LE(apart.gradients, allowed.gradients) << apart.worst_gradients;
}

INSTANTIATE_TEST_SUITE_P(Zoo, OnGpus,
                         ::testing::Combine(::testing::ValuesIn(networks()),
                                            ::testing::ValuesIn(all_ways())),
                         title_of);
INSTANTIATE_TEST_SUITE_P(Transformers, OnGpus,
                         ::testing::Combine(::testing::ValuesIn(transformers()),
                                            ::testing::ValuesIn(ways_of_transformers())),
                         title_of);

}  // namespace
}  // namespace strata::cuda
