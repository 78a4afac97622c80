// The promise of the method: however a network is cut, its losses, gradients and weights are what
// one device computes, and that is what the referee computes; and the bytes that move are those
// that the plan says.

#include "exec/runtime/executor.h"

#include <cmath>
#include <variant>

#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/dropout_mask.h"
#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "tests/exec/reference/reference.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using reference::Weights;
using strata::testing::Random;

constexpr float kRate = 0.05F;
constexpr int kStepsToTrain = 3;
constexpr std::uint64_t kSeed = 7;

std::vector<float> flat(const Weights& weights) {
  std::vector<float> values(weights.weight.begin(), weights.weight.end());
  values.insert(values.end(), weights.bias.begin(), weights.bias.end());
  return values;
}

double length_of(const std::vector<float>& a) {
  double squares = 0;
  for (float x : a) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

// Distance over length, both Euclidean. What is next to nothing beside `scale` is held to that:
// before a batch norm, gradients cancel.
double difference(const std::vector<float>& a, const std::vector<float>& b, double scale) {
  std::vector<float> distance;
  for (std::size_t i = 0; i < a.size(); ++i) distance.push_back(a[i] - b[i]);
  return length_of(distance) / std::max({length_of(b), 0.01 * scale, 1e-4});
}

// A network with its weights and data, and what the referee makes of them.
struct Case {
  Graph graph;
  std::vector<Weights> weights;
  reference::Batch batch;
  std::vector<std::vector<float>> inputs;

  Case(Graph g, Random& random)
      : graph(std::move(g)),
        weights(reference::random_weights(graph, random)),
        batch(reference::random_batch(graph, random)) {
    for (const auto& input : batch.inputs) {
      inputs.emplace_back(input.values.begin(), input.values.end());
    }
  }

  Batch data() const {
    Batch data;
    for (const auto& input : inputs) data.inputs.emplace_back(input);
    data.labels = batch.labels;
    return data;
  }
};

struct Outcome {
  std::vector<double> losses;
  std::vector<std::vector<float>> gradients, weights;
  Communication moved, planned;
};

Outcome run(const Case& c, const Strategy& strategy, int devices, const GradientSync& sync,
            bool gathers_again = false) {
  const Cluster cluster = cpu_cluster(devices);
  LowerOptions lowering;
  lowering.sync = sync;
  lowering.gathers_again = gathers_again;
  const Plan plan = lower(c.graph, cluster, strategy, lowering);
  cpu::CpuBackend backend(static_cast<std::size_t>(devices));
  ExecutionOptions options;
  options.learning_rate = kRate;
  options.seed = kSeed;
  options.keep_gradients = true;
  Executor executor(c.graph, plan, backend, options);
  for (std::size_t i = 0; i < c.graph.size(); ++i) {
    executor.set_parameters(LayerId(i), flat(c.weights[i]));
  }
  const Execution done = executor.run(kStepsToTrain, [&](std::uint64_t) { return c.data(); });
  Outcome outcome{done.losses, {}, {}, done.moved, communication(plan)};
  for (std::size_t i = 0; i < c.graph.size(); ++i) {
    outcome.gradients.push_back(executor.gradients(LayerId(i)));
    outcome.weights.push_back(executor.parameters(LayerId(i)));
  }
  return outcome;
}

TEST(Executor, RunsNoMergedProducts) {
  const Graph graph = build_zoo("gpt:layers=1,hidden=16,heads=2,seq=4,vocab=8", 2);
  LowerOptions lowering;
  lowering.products = Products::merged;
  const Plan plan = lower(graph, cpu_cluster(1), data_parallel(graph, 1), lowering);
  cpu::CpuBackend backend(1);
  EXPECT_THROW(Executor(graph, plan, backend, {}), InternalError);
}

Outcome referee(const Case& c) {
  std::vector<Weights> weights = c.weights;
  Outcome outcome;
  for (int step = 0; step < kStepsToTrain; ++step) {
    const auto at = static_cast<std::uint64_t>(step);
    const auto mask = [&](LayerId layer, std::int64_t element) {
      const double p = reference::dropout_probability(c.graph[layer].op);
      return DropoutMask(kSeed, layer, at, p).keeps(element) ? 1 / (1 - p) : 0;
    };
    const reference::Step done = reference::run_step(c.graph, weights, c.batch, mask);
    outcome.losses.push_back(done.loss);
    outcome.gradients.clear();
    for (const Weights& gradient : done.gradients) outcome.gradients.push_back(flat(gradient));
    reference::descend(weights, done.gradients, kRate);
  }
  for (const Weights& w : weights) outcome.weights.push_back(flat(w));
  return outcome;
}

void expect_same(const Outcome& a, const Outcome& b, const Graph& graph, double tolerance) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (std::size_t k = 0; k < a.losses.size(); ++k) {
    EXPECT_NEAR(a.losses[k], b.losses[k], tolerance * (std::abs(b.losses[k]) + 0.01));
  }
  double scale = 0;
  for (const auto& gradient : b.gradients) scale = std::max(scale, length_of(gradient));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& layer = graph[LayerId(i)].name;
    EXPECT_LT(difference(a.weights[i], b.weights[i], 0), tolerance)
        << "weights of " << layer << " of " << graph.name();
    if (a.gradients[i].size() != b.gradients[i].size()) continue;  // a layer without any
    EXPECT_LT(difference(a.gradients[i], b.gradients[i], scale), tolerance)
        << "of " << layer << " of " << graph.name();
  }
}

void expect_what_the_referee_computes(const Case& c, Random& random) {
  const Strategy strategy = strata::testing::random_strategy(random, c.graph, 1);
  // Single precision against double: a loss near 0 leaves few digits to its gradient.
  expect_same(run(c, strategy, 1, SyncAlgorithm::ring), referee(c), c.graph, 2e-4);
}

void expect_the_same_however_cut(const Case& c, Random& random) {
  const Strategy whole = strata::testing::random_strategy(random, c.graph, 1);
  const Outcome one = run(c, whole, 1, SyncAlgorithm::ring);
  for (int devices : {2, 3, 4}) {
    for (const GradientSync& sync :
         {GradientSync(SyncAlgorithm::ring), GradientSync(SyncAlgorithm::ring, {1024}),
          GradientSync(SyncAlgorithm::ps), GradientSync(SyncAlgorithm::ring, {1024}, Zero::state),
          GradientSync(SyncAlgorithm::ring, {}, Zero::gradients),
          GradientSync(SyncAlgorithm::ring, {1024}, Zero::parameters),
          GradientSync(SyncAlgorithm::ring, {1024}, Zero::state, 2),
          GradientSync(SyncAlgorithm::ring, {}, Zero::parameters, 2)}) {
      SCOPED_TRACE(std::to_string(devices) + " devices, " + std::string(name(sync.algorithm)));
      const Strategy strategy =
          strata::testing::random_strategy(random, c.graph, static_cast<std::size_t>(devices));
      const Outcome cut = run(c, strategy, devices, sync, devices == 3);
      expect_same(cut, one, c.graph, 2e-4);  // norms of few channels make much of rounding
      const Communication steps{kStepsToTrain * cut.planned.transfer,
                                kStepsToTrain * cut.planned.sync,
                                kStepsToTrain * cut.planned.statistics};
      EXPECT_EQ(cut.moved, steps);
    }
  }
}

class RandomNetworks : public ::testing::TestWithParam<int> {
 protected:
  Random random_{static_cast<std::uint64_t>(GetParam())};
};

TEST_P(RandomNetworks, ComputeWhatTheRefereeComputes) {
  const Case c(strata::testing::random_graph(random_), random_);
  expect_what_the_referee_computes(c, random_);
}

TEST_P(RandomNetworks, ComputeTheSameHoweverTheyAreCut) {
  const Case c(strata::testing::random_graph(random_), random_);
  expect_the_same_however_cut(c, random_);
}

class RandomTransformers : public RandomNetworks {};

TEST_P(RandomTransformers, ComputeWhatTheRefereeComputes) {
  const Case c(strata::testing::random_transformer(random_), random_);
  expect_what_the_referee_computes(c, random_);
}

TEST_P(RandomTransformers, ComputeTheSameHoweverTheyAreCut) {
  const Case c(strata::testing::random_transformer(random_), random_);
  expect_the_same_however_cut(c, random_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNetworks, ::testing::Range(0, 100));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomTransformers, ::testing::Range(0, 50));

}  // namespace
}  // namespace strata
