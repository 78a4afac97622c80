// The rules of the optimizers beside PyTorch's, and training by them however a network is cut.

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "exec/runtime/optimizer_step.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/study/case/dataset.h"
#include "sim/study/case/weights.h"
#include "tests/exec/zoo/trained.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using Four = std::array<float, 4>;

constexpr Four kStart = {1, -2, 0.5, 3};
constexpr std::array<Four, 4> kGradients = {{{0.1F, -0.5F, 0, 2},
                                             {-0.3F, 0.25F, 1e-6F, 1},
                                             {0.7F, 0.125F, -2e-6F, -4},
                                             {0.01F, -1.5F, 3e-6F, 0.5F}}};

// PyTorch 2.15, torch.optim.SGD(momentum=0.9) and torch.optim.Adam, lr = 0.1, after each step.
constexpr std::array<Four, 4> kMomentumAfter = {
    {{0.99000001F, -1.95000005F, 0.5F, 2.79999995F},
     {1.01100004F, -1.93000007F, 0.499999911F, 2.51999998F},
     {0.959900022F, -1.92450011F, 0.5F, 2.66799998F},
     {0.912910044F, -1.76955009F, 0.499999791F, 2.75119996F}}};
constexpr std::array<Four, 4> kAdamAfter = {
    {{0.899999976F, -1.89999998F, 0.5F, 2.9000001F},
     {0.949418962F, -1.87336624F, 0.426623762F, 2.80678225F},
     {0.906916916F, -1.86722732F, 0.457810909F, 2.82741785F},
     {0.871347845F, -1.8111372F, 0.42675221F, 2.83791375F}}};

TEST(OptimizerStep, OfMomentumAndAdamArePyTorchs) {
  Four momentum = kStart, adam = kStart, velocity{}, mean{}, square{};
  for (std::size_t step = 0; step < kGradients.size(); ++step) {
    for (std::size_t i = 0; i < kStart.size(); ++i) {
      const float g = kGradients[step][i];
      const OptimizerStep<float> rule(0.1F, adam_correction(step));
      momentum[i] = rule.momentum(momentum[i], g, velocity[i]);
      adam[i] = rule.adam(adam[i], g, mean[i], square[i]);
      EXPECT_NEAR(momentum[i], kMomentumAfter[step][i], 3e-7) << step << " " << i;
      EXPECT_NEAR(adam[i], kAdamAfter[step][i], 1e-6) << step << " " << i;
    }
  }
}

struct Steps {
  std::vector<double> losses;
  std::vector<std::vector<float>> weights;
};

Steps train(const Graph& graph, const Strategy& strategy, int devices, Optimizer optimizer,
            const GradientSync& sync) {
  const Cluster cluster = cpu_cluster(devices);
  LowerOptions lowering;
  lowering.sync = sync;
  lowering.kernels.assign(cluster.device_count(), {.optimizer = optimizer});
  const Plan plan = lower(graph, cluster, strategy, lowering);
  cpu::CpuBackend backend(static_cast<std::size_t>(devices));
  ExecutionOptions options;
  options.learning_rate = optimizer == Optimizer::adam ? 0.001F : 0.01F;
  Executor executor(graph, plan, backend, options);
  const NetworkWeights start = initial_weights(graph, 1);
  for (std::size_t i = 0; i < graph.size(); ++i) executor.set_parameters(LayerId(i), start[i]);
  const Dataset data = synthetic_dataset(graph, 1);
  Steps trained;
  for (int run = 0; run < 2; ++run) {  // the state is kept from run to run
    const Execution done = executor.run(2, [&](std::uint64_t step) { return data.batch(step); });
    trained.losses.insert(trained.losses.end(), done.losses.begin(), done.losses.end());
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    trained.weights.push_back(executor.parameters(LayerId(i)));
  }
  return trained;
}

// Of what cancels in sums (the bias of a key) Adam makes whole steps, in whatever direction
// rounding leaves it, so biases are left out there.
void expect_same_steps(const Steps& cut, const Steps& one, const Graph& graph,
                       Optimizer optimizer) {
  for (std::size_t k = 0; k < one.losses.size(); ++k) {
    EXPECT_NEAR(cut.losses[k], one.losses[k], 1e-4 * one.losses[k]) << "step " << k;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto weights = static_cast<std::size_t>(graph[LayerId(i)].parameters.weight);
    std::vector<float> a = cut.weights[i], b = one.weights[i];
    if (optimizer == Optimizer::adam) a.resize(std::min(a.size(), weights)), b.resize(a.size());
    EXPECT_LE(testing::distance(a, b), 1e-4 * testing::length_of(b)) << graph[LayerId(i)].name;
  }
}

class Optimizers : public ::testing::TestWithParam<Optimizer> {};

TEST_P(Optimizers, TrainTheSameHoweverANetworkIsCut) {
  const Graph gpt = build_zoo("gpt:layers=1,hidden=16,heads=4,seq=8,vocab=32", 4);
  const Steps one = train(gpt, data_parallel(gpt, 1), 1, GetParam(), SyncAlgorithm::ring);
  EXPECT_LT(one.losses.back(), one.losses.front());
  // In stages, the embedding and the head have a copy of their weight each.
  for (const char* sizes : {"hybrid:tp=2", "hybrid:tp=2,sp=1", "hybrid:cp=2", "hybrid:pp=2,tp=2",
                            "hybrid:pp=2,vp=2", "hybrid:pp=4"}) {
    SCOPED_TRACE(sizes);
    for (const GradientSync& sync :
         {GradientSync(SyncAlgorithm::ring, {1024}), GradientSync(SyncAlgorithm::ps)}) {
      expect_same_steps(train(gpt, hybrid_parallel(gpt, 4, sizes), 4, GetParam(), sync), one, gpt,
                        GetParam());
    }
  }
  const Graph lenet = build_zoo("lenet5", 8);
  const Steps alone = train(lenet, data_parallel(lenet, 1), 1, GetParam(), SyncAlgorithm::ring);
  testing::Random random(1);
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE(round);
    const Strategy any = testing::random_strategy(random, lenet, 3);
    const GradientSync sync = round % 2 == 0 ? SyncAlgorithm::ring : SyncAlgorithm::ps;
    expect_same_steps(train(lenet, any, 3, GetParam(), sync), alone, lenet, GetParam());
  }
}

GradientSync sharing(Zero zero, Bytes bucket) {
  return {SyncAlgorithm::ring, bucket, zero};
}

TEST_P(Optimizers, TrainTheSameWhateverReplicasShare) {
  const Graph gpt = build_zoo("gpt:layers=1,hidden=16,heads=4,seq=8,vocab=32", 4);
  const Graph lenet = build_zoo("lenet5", 8);
  const Steps one = train(gpt, data_parallel(gpt, 1), 1, GetParam(), SyncAlgorithm::ring);
  const Steps alone = train(lenet, data_parallel(lenet, 1), 1, GetParam(), SyncAlgorithm::ring);
  testing::Random random(2);
  for (const Zero zero : {Zero::state, Zero::gradients, Zero::parameters}) {
    SCOPED_TRACE(name(zero));
    for (const Bytes bucket : {Bytes{}, Bytes{1024}, kUsualBucket}) {
      const GradientSync sync = sharing(zero, bucket);
      for (const int devices : {2, 4}) {
        expect_same_steps(train(gpt, data_parallel(gpt, devices), devices, GetParam(), sync), one,
                          gpt, GetParam());
        expect_same_steps(train(lenet, data_parallel(lenet, devices), devices, GetParam(), sync),
                          alone, lenet, GetParam());
      }
      expect_same_steps(train(gpt, hybrid_parallel(gpt, 4, "hybrid:tp=2"), 4, GetParam(), sync),
                        one, gpt, GetParam());
      const Strategy any = testing::random_strategy(random, lenet, 3);
      expect_same_steps(train(lenet, any, 3, GetParam(), sync), alone, lenet, GetParam());
    }
  }
}

// What a plan was lowered for decides how its executor updates; whoever runs it cannot say another
// rule, which would read behind the state that the plan holds.
template <class Options>
concept SaysAnOptimizer = requires(Options options) {
  options.optimizer;
};
static_assert(!SaysAnOptimizer<ExecutionOptions>);

std::vector<float> updated(Optimizer optimizer, std::uint64_t step, std::vector<float> parameters,
                           const std::vector<float>& gradients,
                           std::array<std::vector<float>, 2>& state) {
  const OptimizerStep<float> rule(ExecutionOptions{}.learning_rate, adam_correction(step));
  for (std::vector<float>& values : state) values.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    float& p = parameters[i];
    const float g = gradients[i];
    if (optimizer == Optimizer::sgd) p = rule.sgd(p, g);
    if (optimizer == Optimizer::momentum) p = rule.momentum(p, g, state[0][i]);
    if (optimizer == Optimizer::adam) p = rule.adam(p, g, state[0][i], state[1][i]);
  }
  return parameters;
}

TEST_P(Optimizers, AreThePlansInEachStep) {
  const Graph graph = build_zoo("lenet5", 8);
  const Cluster cluster = cpu_cluster(1);
  LowerOptions lowering;
  lowering.kernels.assign(1, {.optimizer = GetParam()});
  const Plan plan = lower(graph, cluster, data_parallel(graph, 1), lowering);
  EXPECT_EQ(plan.optimizer(), GetParam());
  cpu::CpuBackend backend(1);
  ExecutionOptions options;
  options.keep_gradients = true;
  Executor executor(graph, plan, backend, options);
  const NetworkWeights start = initial_weights(graph, 1);
  for (std::size_t i = 0; i < graph.size(); ++i) executor.set_parameters(LayerId(i), start[i]);
  const Dataset data = synthetic_dataset(graph, 1);
  std::vector<std::array<std::vector<float>, 2>> state(graph.size());
  for (std::uint64_t step = 0; step < 3; ++step) {
    std::vector<std::vector<float>> before;
    for (std::size_t i = 0; i < graph.size(); ++i)
      before.push_back(executor.parameters(LayerId(i)));
    executor.run(1, [&](std::uint64_t) { return data.batch(step); });
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const LayerId layer(i);
      if (before[i].empty()) continue;
      const std::vector<float> expected =
          updated(GetParam(), step, before[i], executor.gradients(layer), state[i]);
      EXPECT_LE(testing::distance(executor.parameters(layer), expected),
                1e-6 * testing::length_of(expected))
          << graph[layer].name << " after step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Optimizers,
                         ::testing::Values(Optimizer::sgd, Optimizer::momentum, Optimizer::adam),
                         [](const auto& tested) { return std::string(name(tested.param)); });

// Of 16 bits, beside a copy in fp32; a parameter server alone keeps it.
TEST(OptimizerState, IsCountedWhereParametersAreUpdated) {
  const Graph graph = build_zoo("lenet5", 8);
  std::int64_t parameters = 0;
  for (const Layer& layer : graph.layers()) parameters += layer.held().total();
  const auto state = [&](Optimizer optimizer, DType dtype, SyncAlgorithm sync) {
    LowerOptions options;
    options.sync = sync;
    options.dtypes = dtype;
    options.kernels.assign(2, {.optimizer = optimizer});
    const Plan plan = lower(graph, cpu_cluster(2), data_parallel(graph, 2), options);
    std::int64_t bytes = 0;
    for (const Buffer& buffer : plan.buffers()) {
      if (buffer.kind == BufferKind::optimizer_state) bytes += buffer.bytes.value;
    }
    return bytes;
  };
  EXPECT_EQ(state(Optimizer::sgd, DType::fp32, SyncAlgorithm::ring), 0);
  EXPECT_EQ(state(Optimizer::momentum, DType::fp32, SyncAlgorithm::ring), 2 * 4 * parameters);
  EXPECT_EQ(state(Optimizer::adam, DType::fp32, SyncAlgorithm::ring), 2 * 8 * parameters);
  EXPECT_EQ(state(Optimizer::adam, DType::bf16, SyncAlgorithm::ring), 2 * 12 * parameters);
  EXPECT_EQ(state(Optimizer::adam, DType::bf16, SyncAlgorithm::ps), 12 * parameters);
}

}  // namespace
}  // namespace strata
