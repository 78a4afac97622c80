#include "tests/exec/cpu/drawn_layer.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace strata::cpu {
namespace {

Graph graph_of_one(const Extents& input, const Op& op) {
  GraphBuilder builder("one layer", input[Dim::n]);
  Extents sample = input;
  sample[Dim::n] = 1;
  const LayerId x = builder.add("x", Input{sample}, {});
  builder.add("y", op, {x});
  return std::move(builder).build();
}

}  // namespace

double distance(const std::vector<double>& got, const std::vector<double>& wanted, double least) {
  double off = got.size() == wanted.size() ? 0 : HUGE_VAL, largest = least;
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    const double d = std::abs(got[i] - wanted[i]);
    off = std::isnan(d) ? HUGE_VAL : std::max(off, d);
    largest = std::max(largest, std::abs(wanted[i]));
  }
  return off == 0 ? 0 : off / largest;
}

DrawnLayer::DrawnLayer(const Extents& input, const Op& op, Random& random)
    : graph(graph_of_one(input, op)), x(input), dy(graph[LayerId(1)].output) {
  const Parameters& sizes = graph[LayerId(1)].parameters;
  weights.weight.resize(static_cast<std::size_t>(sizes.weight));
  weights.bias.resize(static_cast<std::size_t>(sizes.bias));
  std::uniform_real_distribution<float> draw(-1, 1);
  for (auto* values : {&x.values, &dy.values, &weights.weight, &weights.bias}) {
    for (double& value : *values) value = draw(random);
  }
}

void expect_as_reference(const DrawnLayer& drawn, const Cut& cut) {
  const reference::LayerCall call{&drawn.graph, LayerId(1), {&drawn.x}, &drawn.weights, {}, {}};
  const auto expect_near = [](const std::vector<double>& got, const std::vector<double>& wanted,
                              const char* what) {
    EXPECT_LE(distance(got, wanted, 1), kTolerance) << what;
  };
  LayerOnShards shards(call, cut);
  const reference::Tensor y = reference::forward(call);
  const reference::Gradients wanted = reference::backward(call, y, drawn.dy);
  for (int run = 0; run < 2; ++run) {
    expect_near(shards.forward().values, y.values, "output");
    const reference::Gradients got = shards.backward(drawn.dy);
    expect_near(got.inputs[0].values, wanted.inputs[0].values, "input");
    expect_near(got.weights.weight, wanted.weights.weight, "weight");
    expect_near(got.weights.bias, wanted.weights.bias, "bias");
  }
}

}  // namespace strata::cpu
