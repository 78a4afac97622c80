// The referee itself: each op's gradients against central differences of its forward pass, from
// drawn shapes, and a whole network's likewise.

#include "tests/exec/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "tests/exec/reference/op_cases.h"

namespace strata::reference {
namespace {

constexpr double kStep = 1e-5;

Tensor random_like(const Extents& extents, std::mt19937_64& random) {
  Tensor t(extents);
  std::uniform_real_distribution<double> draw(-1, 1);
  for (double& value : t.values) value = draw(random);
  return t;
}

/// One layer with all that it reads, and the scalar L whose gradients are tried: the loss, or the
/// output's product with fixed random weights `dy`.
struct Bench {
  explicit Bench(const OpCase& c, std::mt19937_64& random)
      : graph(draw_fitting_layer(c, random)),
        id(graph.size() - 1),
        inputs(draw_inputs(graph, random)),
        weights(random_weights(graph, random)),
        labels(random_batch(graph, random).labels),
        dy(random_like(graph[id].output, random)),
        // The mask of one draw: 0 or 1/(1-p) by a hash of the place.
        mask([](LayerId, std::int64_t i) { return i * 2654435761 % 7 < 3 ? 0.0 : 1.75; }) {}

  Graph graph;
  LayerId id;
  std::vector<Tensor> inputs;
  std::vector<Weights> weights;
  std::vector<std::int64_t> labels;
  Tensor dy;
  DropoutMask mask;

  LayerCall call() const {
    LayerCall call{&graph, id, {}, &weights[id()], labels, &mask};
    for (LayerId input : graph[id].inputs) call.inputs.push_back(&inputs[input()]);
    return call;
  }
  Gradients gradients() const { return backward(call(), forward(call()), dy); }

  /// (L(value + step) - L(value - step)) / (2 step), the difference taken term by term.
  double central_difference(double& value) const {
    const double before = value;
    value = before + kStep;
    const std::vector<double> above = terms();
    value = before - kStep;
    const std::vector<double> below = terms();
    value = before;
    double sum = 0;
    for (std::size_t i = 0; i < above.size(); ++i) sum += above[i] - below[i];
    return sum / (2 * kStep);
  }

 private:
  /// L's terms.
  std::vector<double> terms() const {
    if (!labels.empty()) return {cross_entropy(inputs[0], labels)};
    Tensor y = forward(call());
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] *= dy[i];
    return y.values;
  }
};

/// Tries up to 30 random places. 1e-6 of the gradient, or of a hundredth of the largest of its
/// tensor: a difference loses the digits of what is far smaller.
void expect_derivatives(const Bench& bench, std::vector<double>& values,
                        const std::vector<double>& gradient, const char* what,
                        std::mt19937_64& random) {
  ASSERT_EQ(values.size(), gradient.size()) << what;
  double largest = 0;
  for (double g : gradient) largest = std::max(largest, std::abs(g));
  for (std::size_t tries = std::min<std::size_t>(values.size(), 30); tries > 0; --tries) {
    const std::size_t i = std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random);
    const double scale = std::max(std::abs(gradient[i]), 0.01 * largest);
    EXPECT_NEAR(bench.central_difference(values[i]), gradient[i], 1e-6 * scale + 1e-12)
        << what << "[" << i << "]";
  }
}

class Gradient : public testing::TestWithParam<OpCase> {};

TEST_P(Gradient, IsThatOfCentralDifferences) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Bench bench(GetParam(), random);
    const Gradients g = bench.gradients();
    // A tensor read twice has the sum of both.
    std::vector<Tensor> sums;
    for (const Tensor& x : bench.inputs) sums.emplace_back(x.extents);
    for (std::size_t k = 0; k < g.inputs.size(); ++k) {
      Tensor& sum = sums[bench.graph[bench.id].inputs[k]()];
      for (std::int64_t i = 0; i < sum.size(); ++i) sum[i] += g.inputs[k][i];
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      expect_derivatives(bench, bench.inputs[k].values, sums[k].values, "input", random);
    }
    Weights& weights = bench.weights[bench.id()];
    expect_derivatives(bench, weights.weight, g.weights.weight, "weight", random);
    expect_derivatives(bench, weights.bias, g.weights.bias, "bias", random);
  }
}

INSTANTIATE_TEST_SUITE_P(Op, Gradient, testing::ValuesIn(all_ops()),
                         [](const auto& op) { return title(op.param); });

// A step down a network's gradient lowers the loss by rate |gradient|^2, to first order.
class Descent : public testing::TestWithParam<const char*> {};

TEST_P(Descent, IsAsTheGradientSays) {
  std::mt19937_64 random(1);
  const Graph graph = build_zoo(GetParam(), 4);
  std::vector<Weights> weights = random_weights(graph, random);
  const Batch batch = random_batch(graph, random);
  const Step before = run_step(graph, weights, batch);
  double squares = 0;
  for (const Weights& g : before.gradients) {
    for (double value : g.weight) squares += value * value;
    for (double value : g.bias) squares += value * value;
  }
  const double rate = 1e-6;
  descend(weights, before.gradients, rate);
  const Step after = run_step(graph, weights, batch);
  EXPECT_NEAR((before.loss - after.loss) / (rate * squares), 1, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Network, Descent,
    testing::Values("lenet5", "gpt:layers=2,hidden=12,heads=2,seq=5,vocab=9",
                    "llama:layers=2,hidden=16,heads=4,kv_heads=2,ffn=20,seq=5,vocab=9",
                    "llama:layers=1,hidden=12,heads=2,moe_ffn=8,experts=3,topk=2,seq=6,vocab=9",
                    "bert:layers=1,hidden=12,heads=2,seq=5,vocab=9",
                    "vit:layers=1,hidden=12,heads=2,patch=4,image=8,classes=5"),
    [](const auto& network) {
      const std::string name = network.param;
      return name.find("experts=") < name.size() ? "mixture" : name.substr(0, name.find(':'));
    });

TEST(Step, SumsTheGradientsOfATensorReadByMany) {
  GraphBuilder builder("diamond", 1);
  const LayerId x = builder.add("x", Input{{{1, 2, 1, 1, 1}}}, {});
  const LayerId sum = builder.add("sum", Add{}, {x, x});
  const LayerId more = builder.add("more", Add{}, {sum, x});
  builder.add("loss", SoftmaxCrossEntropy{}, {more});
  const Graph graph = std::move(builder).build();
  Batch batch;
  batch.inputs.emplace_back(Extents{{1, 2, 1, 1, 1}}).values = {0, 0};
  batch.labels = {1};
  const Step step = run_step(graph, std::vector<Weights>(graph.size()), batch);
  // Two equal logits: p = 1/2 each, so d logits = (1/2, -1/2), and x counts three times.
  EXPECT_THAT(step.output_gradients[more()].values, testing::ElementsAre(0.5, -0.5));
  EXPECT_THAT(step.output_gradients[x()].values, testing::ElementsAre(1.5, -1.5));
  EXPECT_DOUBLE_EQ(step.loss, std::log(2));
  EXPECT_EQ(step.correct, 0) << "the first of equal logits is the largest";
}

// Four elements, kernel 3, stride 2, ceil_mode, a place of padding on each side: windows over
// places -1 ... 1, 1 ... 3 and 3 ... 5. The padded extent ends before place 5, which never counts.
TEST(AveragePooling, DividesByTheWindowWithinThePaddedExtent) {
  const auto pooled = [](bool count_include_pad) {
    Pooling op{1, PoolMode::average, {}, true, count_include_pad};
    op.windows.w = {3, 2, 1, 1};
    GraphBuilder builder("pool", 1);
    const LayerId x = builder.add("x", Input{{{1, 1, 1, 1, 4}}}, {});
    const LayerId y = builder.add("y", op, {x});
    const Graph graph = std::move(builder).build();
    Batch batch;
    batch.inputs.emplace_back(Extents{{1, 1, 1, 1, 4}}).values = {12, 24, 36, 48};
    return run_step(graph, std::vector<Weights>(2), batch).outputs[y()].values;
  };
  EXPECT_THAT(pooled(true), testing::ElementsAre(36.0 / 3, 108.0 / 3, 48.0 / 2));
  EXPECT_THAT(pooled(false), testing::ElementsAre(36.0 / 2, 108.0 / 3, 48.0 / 1));
}

}  // namespace
}  // namespace strata::reference
