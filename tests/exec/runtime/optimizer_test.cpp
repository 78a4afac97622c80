// The rules of the optimizers beside PyTorch's, and training by them however a network is cut.

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "exec/runtime/optimizer_step.h"
#include "sim/case/weights.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/train/dataset.h"
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

/// A rule, and the parameters after each step of 0.1.
struct Known {
  Optimizer optimizer;
  OptimizerConstants constants;
  std::array<Four, 4> after;
};
constexpr OptimizerConstants kUsual = {};  // stands for those of the rule

// Of torch.optim.SGD, Adam and AdamW (PyTorch 1.13); of lion by its formula.
constexpr std::array<Known, 7> kKnown = {{
    {Optimizer::momentum,
     kUsual,
     {{{0.99000001F, -1.95000005F, 0.5F, 2.79999995F},
       {1.01100004F, -1.93000007F, 0.499999911F, 2.51999998F},
       {0.959900022F, -1.92450011F, 0.5F, 2.66799998F},
       {0.912910044F, -1.76955009F, 0.499999791F, 2.75119996F}}}},
    {Optimizer::adam,
     kUsual,
     {{{0.899999976F, -1.89999998F, 0.5F, 2.9000001F},
       {0.949418962F, -1.87336624F, 0.426623762F, 2.80678225F},
       {0.906916916F, -1.86722732F, 0.457810909F, 2.82741785F},
       {0.871347845F, -1.8111372F, 0.42675221F, 2.83791375F}}}},
    {Optimizer::sgd,
     {.weight_decay = 0.1},
     {{{0.980000019F, -1.92999995F, 0.495000005F, 2.76999998F},
       {1.00020003F, -1.93569994F, 0.490049899F, 2.64229989F},
       {0.920198023F, -1.9288429F, 0.485149592F, 3.01587701F},
       {0.909996033F, -1.75955451F, 0.480297804F, 2.9357183F}}}},
    {Optimizer::momentum,
     {.beta1 = 0.8, .weight_decay = 0.1},
     {{{0.980000019F, -1.92999995F, 0.495000005F, 2.76999998F},
       {0.984200001F, -1.87969995F, 0.486049891F, 2.45829988F},
       {0.907718003F, -1.8331629F, 0.474029511F, 2.58435678F},
       {0.836455226F, -1.62760162F, 0.4596726F, 2.60935879F}}}},
    {Optimizer::adam,
     {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1},
     {{{0.900000513F, -1.9000001F, 0.400002003F, 2.9000001F},
       {0.913538098F, -1.84336555F, 0.301565111F, 2.80611658F},
       {0.851564407F, -1.79592502F, 0.206357062F, 2.82483983F},
       {0.796397209F, -1.72181046F, 0.116703942F, 2.82762384F}}}},
    {Optimizer::adamw,
     kUsual,
     {{{0.899000049F, -1.898F, 0.499500006F, 2.89700007F},
       {0.947520018F, -1.86946833F, 0.425624281F, 2.8008852F},
       {0.904070497F, -1.86145997F, 0.456385821F, 2.81871986F},
       {0.867597342F, -1.8035084F, 0.424870729F, 2.82639718F}}}},
    // m: 0.001, -0.005, 0, 0.02; then -0.00201, -0.00245, 1e-8, 0.0298; then 0.0050101, ...
    {Optimizer::lion,
     {.beta1 = 0.9, .beta2 = 0.99, .weight_decay = 0.1},
     {{{0.89F, -1.88F, 0.495F, 2.87F},
       {0.9811F, -1.9612F, 0.39005F, 2.7413F},
       {0.871289F, -2.041588F, 0.4861495F, 2.813887F},
       {0.76257611F, -1.92117212F, 0.381288005F, 2.68574813F}}}},
}};

float updated(Optimizer optimizer, const OptimizerStep<float>& rule, float parameter,
              float gradient, float& first, float& second) {
  float result = 0;
  with_optimizer(optimizer, [&]<Optimizer constant>() {
    result = rule.updated<constant>(parameter, gradient, first, second);
  });
  return result;
}

TEST(OptimizerStep, IsPyTorchs) {
  for (const Known& known : kKnown) {
    SCOPED_TRACE(name(known.optimizer));
    const OptimizerConstants constants =
        known.constants == kUsual ? traits(known.optimizer).usual : known.constants;
    Four parameters = kStart, first{}, second{};
    for (std::size_t step = 0; step < kGradients.size(); ++step) {
      const OptimizerStep<float> rule(0.1F, constants, adam_correction(step, constants));
      for (std::size_t i = 0; i < kStart.size(); ++i) {
        parameters[i] =
            updated(known.optimizer, rule, parameters[i], kGradients[step][i], first[i], second[i]);
        EXPECT_NEAR(parameters[i], known.after[step][i], 1e-6) << step << " " << i;
      }
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
  lowering.optimizer = optimizer;
  const Plan plan = lower(graph, cluster, strategy, lowering);
  cpu::CpuBackend backend(static_cast<std::size_t>(devices));
  ExecutionOptions options;
  options.learning_rate = traits(optimizer).ignores_gradient_scale ? 0.001F : 0.01F;
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

// Of what cancels in sums (the bias of a key) some rules make whole steps, in whatever direction
// rounding leaves it, so biases are left out there.
void expect_same_steps(const Steps& cut, const Steps& one, const Graph& graph,
                       Optimizer optimizer) {
  for (std::size_t k = 0; k < one.losses.size(); ++k) {
    EXPECT_NEAR(cut.losses[k], one.losses[k], 1e-4 * one.losses[k]) << "step " << k;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto weights = static_cast<std::size_t>(graph[LayerId(i)].parameters.weight);
    std::vector<float> a = cut.weights[i], b = one.weights[i];
    if (traits(optimizer).ignores_gradient_scale)
      a.resize(std::min(a.size(), weights)), b.resize(a.size());
    EXPECT_LE(testing::distance(a, b), 1e-4 * testing::length_of(b)) << graph[LayerId(i)].name;
  }
}

class Optimizers : public ::testing::TestWithParam<Optimizer> {};
class UpdateRules : public Optimizers {};

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
  const OptimizerConstants& constants = traits(optimizer).usual;
  const OptimizerStep<float> rule(ExecutionOptions{}.learning_rate, constants,
                                  adam_correction(step, constants));
  for (std::vector<float>& values : state) values.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = updated(optimizer, rule, parameters[i], gradients[i], state[0][i], state[1][i]);
  }
  return parameters;
}

TEST_P(UpdateRules, AreThePlansInEachStep) {
  const Graph graph = build_zoo("lenet5", 8);
  const Cluster cluster = cpu_cluster(1);
  LowerOptions lowering;
  lowering.optimizer = GetParam();
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

constexpr Optimizer kRules[] = {Optimizer::sgd, Optimizer::momentum, Optimizer::adam,
                                Optimizer::adamw, Optimizer::lion};
std::string name_of(const ::testing::TestParamInfo<Optimizer>& tested) {
  return std::string(name(tested.param));
}
INSTANTIATE_TEST_SUITE_P(All, UpdateRules, ::testing::ValuesIn(kRules), name_of);
// All but lion, whose steps are signs: rounding turns those of small means.
INSTANTIATE_TEST_SUITE_P(All, Optimizers,
                         ::testing::Values(Optimizer::sgd, Optimizer::momentum, Optimizer::adam,
                                           Optimizer::adamw),
                         name_of);

// Of 16 bits, beside a copy in fp32; a parameter server alone keeps it.
TEST(OptimizerState, IsCountedWhereParametersAreUpdated) {
  const Graph graph = build_zoo("lenet5", 8);
  std::int64_t parameters = 0;
  for (const Layer& layer : graph.layers()) parameters += layer.held().total();
  const auto state = [&](Optimizer optimizer, DType dtype, SyncAlgorithm sync) {
    LowerOptions options;
    options.sync = sync;
    options.dtypes = dtype;
    options.optimizer = optimizer;
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
