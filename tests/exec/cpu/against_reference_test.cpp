// Each op's kernel against the referee in double precision: the layer whole as one shard, and cut
// in random parts of all dims. What is compared is a whole tensor's distance, over its largest
// element: 1e-5, as single precision and its sums allow.

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/model_file.h"
#include "tests/exec/cpu/drawn_layer.h"
#include "tests/exec/reference/op_cases.h"

namespace strata::cpu {
namespace {

using reference::OpCase;

void round_to_floats(std::vector<double>& values) {
  for (double& value : values) value = static_cast<float>(value);
}

/// A layer drawn for an op, with all that it reads, as floats.
struct DrawnOp {
  DrawnOp(const OpCase& c, Random& random)
      : graph(reference::draw_fitting_layer(c, random)),
        id(graph.size() - 1),
        inputs(reference::draw_inputs(graph, random)),
        weights(reference::random_weights(graph, random)[id()]),
        labels(reference::random_batch(graph, random).labels),
        dy(graph[id].output) {
    std::uniform_real_distribution<float> draw(-1, 1);
    for (double& value : dy.values) value = draw(random);
    for (reference::Tensor& x : inputs) round_to_floats(x.values);
    round_to_floats(weights.weight);
    round_to_floats(weights.bias);
  }

  reference::LayerCall call() const {
    reference::LayerCall call{&graph, id, {}, &weights, labels, &mask};
    for (LayerId input : graph[id].inputs) call.inputs.push_back(&inputs[input()]);
    return call;
  }

  Graph graph;
  LayerId id;
  std::vector<reference::Tensor> inputs;
  reference::Weights weights;
  std::vector<std::int64_t> labels;
  reference::Tensor dy;
  reference::DropoutMask mask;
};

/// What the kernel drops of ones, uncut: the mask that any cut must have, too.
void learn_mask(DrawnOp& drawn) {
  const auto* dropout = std::get_if<Dropout>(&drawn.graph[drawn.id].op);
  if (dropout == nullptr) return;
  reference::Tensor ones(drawn.graph[drawn.id].output);
  std::fill(ones.values.begin(), ones.values.end(), 1.0);
  reference::LayerCall call = drawn.call();
  call.inputs = {&ones};
  const reference::Tensor kept = LayerOnShards(call, {}).forward();
  const double scale = 1 / (1 - dropout->probability);
  for (double value : kept.values) {
    EXPECT_TRUE(value == 0 || std::abs(value - scale) < 1e-5 * scale) << value;
  }
  drawn.mask = [kept, scale](LayerId, std::int64_t i) { return kept[i] == 0 ? 0 : scale; };
}

Degrees draw_degrees(const Extents& output, Random& random) {
  Degrees degrees = kWhole;
  for (Dim dim : kDims) {
    if (pick(random, 0, 1) == 0) continue;
    degrees[dim] =
        static_cast<std::int32_t>(pick(random, 1, std::min<std::int64_t>(output[dim], 4)));
  }
  return degrees;
}

void expect_loss(const LossPart& got, const reference::LayerCall& call) {
  if (call.labels.empty()) return;
  EXPECT_NEAR(got.loss, reference::cross_entropy(call.input(), call.labels), 1e-5);
  EXPECT_EQ(got.correct, reference::count_correct(call.input(), call.labels));
}

std::string show(const Degrees& degrees) {
  std::string text = "cut";
  for (Dim dim : kDims) text += " " + std::string(name(dim)) + std::to_string(degrees[dim]);
  return text;
}

void expect_gradients(const reference::LayerCall& call, const reference::Gradients& got,
                      reference::Gradients wanted) {
  if (call.inputs.size() == 2 && call.inputs[0] == call.inputs[1]) {
    // The first region has the sum of both.
    std::vector<reference::Tensor>& sum = wanted.inputs;
    for (std::int64_t i = 0; i < sum[0].size(); ++i) sum[0][i] += sum[1][i];
    sum[1] = reference::Tensor(sum[1].extents);
  }
  for (std::size_t k = 0; k < wanted.inputs.size(); ++k) {
    EXPECT_LE(distance(got.inputs[k].values, wanted.inputs[k].values), kTolerance)
        << "gradient of input " << k;
  }
  EXPECT_LE(distance(got.weights.weight, wanted.weights.weight), kTolerance) << "weight";
  EXPECT_LE(distance(got.weights.bias, wanted.weights.bias), kTolerance) << "bias";
}

/// Twice where nothing is overwritten: a kernel takes nothing of one step into the next.
void expect_as_reference(const DrawnOp& drawn, const Cut& cut) {
  SCOPED_TRACE(show(cut.degrees));
  const reference::LayerCall call = drawn.call();
  const reference::Tensor y = reference::forward(call);
  const reference::Gradients gradients = reference::backward(call, y, drawn.dy);
  try {
    LayerOnShards shards(call, cut);
    for (int steps = cut.in_place ? 1 : 2; steps > 0; --steps) {
      EXPECT_LE(distance(shards.forward().values, y.values), kTolerance) << "output";
      expect_loss(shards.loss(), call);
      expect_gradients(call, shards.backward(drawn.dy), gradients);
    }
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

/// Calls trial(drawn, random) for a layer of each seed.
template <class Trial>
void each_drawn(OpCase c, std::uint64_t seeds, const Trial& trial) {
  each_seed(seeds, [&](Random& random) {
    c.most_channels = pick(random, 0, 1) == 0 ? 9 : 40;
    DrawnOp drawn(c, random);
    SCOPED_TRACE(print_model(drawn.graph) + "batch " + std::to_string(drawn.graph.batch()));
    learn_mask(drawn);
    trial(drawn, random);
  });
}

bool has_windows(const OpCase& c) {
  return c.name.starts_with("conv") || c.name.find("pool") != std::string::npos;
}

/// Elementwise, and its gradient needs no input: the others never work in place.
bool works_in_place(const OpCase& c) {
  const std::vector<std::string> names = {"relu",    "relu6", "leaky_relu", "elu",
                                          "sigmoid", "tanh",  "dropout"};
  return std::find(names.begin(), names.end(), c.name) != names.end();
}

std::vector<OpCase> ops_that(bool (*keep)(const OpCase&)) {
  std::vector<OpCase> ops = reference::all_ops();
  std::erase_if(ops, [&](const OpCase& c) { return !keep(c); });
  return ops;
}

std::string title_of(const testing::TestParamInfo<OpCase>& op) {
  return reference::title(op.param);
}

class AgainstReference : public testing::TestWithParam<OpCase> {};
INSTANTIATE_TEST_SUITE_P(Op, AgainstReference, testing::ValuesIn(reference::all_ops()), title_of);

TEST_P(AgainstReference, Whole) {
  each_drawn(GetParam(), 20, [](const DrawnOp& drawn, Random&) { expect_as_reference(drawn, {}); });
}

TEST_P(AgainstReference, CutInParts) {
  each_drawn(GetParam(), 20, [](const DrawnOp& drawn, Random& random) {
    for (int cuts = 0; cuts < 3; ++cuts) {
      expect_as_reference(drawn, {draw_degrees(drawn.graph[drawn.id].output, random)});
    }
  });
}

class OverWindows : public testing::TestWithParam<OpCase> {};
INSTANTIATE_TEST_SUITE_P(Op, OverWindows, testing::ValuesIn(ops_that(has_windows)), title_of);

// A device may hold more of an input than a shard needs: rows that a stride never meets.
TEST_P(OverWindows, WithMoreOfTheInputThanItNeeds) {
  each_drawn(GetParam(), 10, [](const DrawnOp& drawn, Random& random) {
    const Degrees degrees = draw_degrees(drawn.graph[drawn.id].output, random);
    expect_as_reference(drawn, {degrees, false, pick(random, 1, 3)});
  });
}

class InPlace : public testing::TestWithParam<OpCase> {};
INSTANTIATE_TEST_SUITE_P(Op, InPlace, testing::ValuesIn(ops_that(works_in_place)), title_of);

TEST_P(InPlace, OutputOverInputAndGradientOverGradient) {
  each_drawn(GetParam(), 10, [](const DrawnOp& drawn, Random& random) {
    expect_as_reference(drawn, {draw_degrees(drawn.graph[drawn.id].output, random), true});
  });
}

}  // namespace
}  // namespace strata::cpu
