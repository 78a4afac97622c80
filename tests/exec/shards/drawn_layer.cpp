#include "tests/exec/shards/drawn_layer.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "exec/runtime/dropout_mask.h"
#include "sim/base/error.h"
#include "sim/graph/regions.h"

namespace strata::shards {
namespace {

Graph graph_of_one(const Extents& input, const Op& op) {
  GraphBuilder builder("one layer", input[Dim::n]);
  Extents sample = input;
  sample[Dim::n] = 1;
  const LayerId x = builder.add("x", Input{sample}, {});
  builder.add("y", op, {x});
  return std::move(builder).build();
}

void draw(std::vector<double>& values, Random& random) {
  std::uniform_real_distribution<float> draw(-1, 1);
  for (double& value : values) value = draw(random);
}

void round_to_held(std::vector<double>& values, const Site& site) {
  for (double& value : values) value = site.held(value);
}

void round_to_floats(reference::Weights& weights) {
  for (std::vector<double>* values : {&weights.weight, &weights.bias}) {
    for (double& value : *values) value = static_cast<float>(value);
  }
}

/// The engine's own masks, that every cut must have.
reference::DropoutMask mask_of(const Graph& graph, LayerId id) {
  const double probability = reference::dropout_probability(graph[id].op);
  if (probability == 0) return {};
  const DropoutMask mask(kSeed, id, 0, probability);
  const double scale = 1 / (1 - probability);
  return [mask, scale](LayerId, std::int64_t i) { return mask.keeps(i) ? scale : 0; };
}

std::string show(const Degrees& degrees) {
  std::string text = "cut";
  for (Dim dim : kDims) text += " " + std::string(name(dim)) + std::to_string(degrees[dim]);
  if (degrees.r > 1) text += " r" + std::to_string(degrees.r);
  return text;
}

/// Positions whose label has the largest logit, be it alone with it or not.
std::int64_t count_largest(const reference::Tensor& logits, std::span<const std::int64_t> labels) {
  std::int64_t count = 0;
  std::size_t next = 0;
  for (std::int64_t n = 0; n < logits.extents[Dim::n]; ++n) {
    for (std::int64_t w = 0; w < logits.extents[Dim::w]; ++w) {
      double most = logits.at(n, 0, 0, 0, w);
      for (std::int64_t c = 1; c < logits.extents[Dim::c]; ++c) {
        most = std::max(most, logits.at(n, c, 0, 0, w));
      }
      count += logits.at(n, labels[next++], 0, 0, w) == most;
    }
  }
  return count;
}

void expect_loss(const LossPart& got, const reference::LayerCall& call) {
  if (call.labels.empty()) return;
  EXPECT_NEAR(got.loss, reference::cross_entropy(call.input(), call.labels), 1e-5);
  EXPECT_EQ(got.correct, count_largest(call.input(), call.labels));
}

void expect_within(Site& site, double error, const std::string& what) {
  site.saw(error);
  EXPECT_LE(error, site.tolerance()) << what;
}

void expect_gradients(Site& site, const reference::LayerCall& call, const reference::Gradients& got,
                      reference::Gradients wanted) {
  if (call.inputs.size() == 2 && call.inputs[0] == call.inputs[1]) {
    // The first region has the sum of both.
    std::vector<reference::Tensor>& sum = wanted.inputs;
    for (std::int64_t i = 0; i < sum[0].size(); ++i) sum[0][i] += sum[1][i];
    sum[1] = reference::Tensor(sum[1].extents);
  }
  // Where an attention sees one key its gradient is zero, and of rounding where a dropout scales
  // it or values have many channels; so is that of a norm over one channel, where products and sums
  // are fused.
  const Op& op = call.layer().op;
  const auto* const attention = std::get_if<Attention>(&op);
  const bool one_key = attention != nullptr && (attention->dropout > 0 || attention->window == 1);
  const bool one_channel =
      std::holds_alternative<LayerNorm>(op) && call.layer().output[Dim::c] == 1;
  const bool cancels = one_key || one_channel;
  for (std::size_t k = 0; k < wanted.inputs.size(); ++k) {
    expect_within(site, distance(got.inputs[k].values, wanted.inputs[k].values, cancels ? 1 : 0),
                  "gradient of input " + std::to_string(k));
  }
  expect_within(site, distance(got.weights.weight, wanted.weights.weight), "weight");
  expect_within(site, distance(got.weights.bias, wanted.weights.bias), "bias");
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

DrawnLayer::DrawnLayer(const Site& site, const Extents& input, const Op& op, Random& random)
    : graph(graph_of_one(input, op)), x(input), dy(graph[LayerId(1)].output) {
  const Parameters& sizes = graph[LayerId(1)].parameters;
  weights.weight.resize(static_cast<std::size_t>(sizes.weight));
  weights.bias.resize(static_cast<std::size_t>(sizes.bias));
  for (auto* values : {&x.values, &dy.values, &weights.weight, &weights.bias}) {
    draw(*values, random);
  }
  round_to_held(x.values, site);
  round_to_held(dy.values, site);
}

void expect_as_reference(Site& site, const DrawnLayer& drawn, const Cut& cut) {
  const reference::LayerCall call{&drawn.graph, LayerId(1), {&drawn.x}, &drawn.weights, {}, {}};
  const auto expect_near = [&](const std::vector<double>& got, const std::vector<double>& wanted,
                               const char* what) {
    expect_within(site, distance(got, wanted, 1), what);
  };
  LayerOnShards shards(site, call, cut);
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

DrawnOp::DrawnOp(const Site& site, const reference::OpCase& c, Random& random)
    : graph(reference::draw_fitting_layer(c, random)),
      id(graph.size() - 1),
      inputs(reference::draw_inputs(graph, random)),
      weights(reference::random_weights(graph, random)[id()]),
      labels(reference::random_batch(graph, random).labels),
      dy(graph[id].output),
      mask(mask_of(graph, id)) {
  draw(dy.values, random);
  round_to_held(dy.values, site);
  for (reference::Tensor& x : inputs) round_to_held(x.values, site);
  round_to_floats(weights);
}

reference::LayerCall DrawnOp::call() const {
  reference::LayerCall call{&graph, id, {}, &weights, labels, &mask};
  for (LayerId input : graph[id].inputs) call.inputs.push_back(&inputs[input()]);
  return call;
}

// As many as GPUs join the statistics of (cuda::kMostCombined).
constexpr std::int64_t kMostShards = 64;

Degrees draw_degrees(const Extents& output, Random& random) {
  Degrees degrees = kWhole;
  std::int64_t left = kMostShards;
  for (Dim dim : kDims) {
    if (pick(random, 0, 1) == 0) continue;
    const std::int64_t most = std::min({output[dim], std::int64_t{4}, left});
    degrees[dim] = static_cast<std::int32_t>(pick(random, 1, most));
    left /= degrees[dim];
  }
  return degrees;
}

Degrees draw_degrees(const Layer& layer, Random& random) {
  Degrees degrees = draw_degrees(most_parts(layer), random);
  for (Dim dim : kDims) degrees[dim] = clipped(layer, dim, degrees[dim]);
  if (layer.reduction == 1 || pick(random, 0, 1) == 0) return degrees;
  const std::int64_t left = kMostShards / product(degrees);
  degrees.r = static_cast<std::int32_t>(
      pick(random, 1, std::min({layer.reduction, std::int64_t{4}, left})));
  const PerDim<bool> may = may_scatter(layer, degrees);
  for (Dim dim : kDims) {
    if (degrees.r > 1 && may[dim]) degrees.scatter = dim;
  }
  if (!may[degrees.scatter]) degrees.r = 1;
  return degrees;
}

void expect_as_reference(Site& site, const DrawnOp& drawn, const Cut& cut) {
  SCOPED_TRACE(show(cut.degrees));
  const reference::LayerCall call = drawn.call();
  const reference::Tensor y = reference::forward(call);
  const reference::Gradients gradients = reference::backward(call, y, drawn.dy);
  try {
    LayerOnShards shards(site, call, cut);
    for (int step = 0; step < 2; ++step) {
      expect_within(site, distance(shards.forward().values, y.values), "output");
      expect_loss(shards.loss(), call);
      expect_gradients(site, call, shards.backward(drawn.dy), gradients);
    }
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

bool has_windows(const reference::OpCase& c) {
  return c.name.starts_with("conv") || c.name.find("pool") != std::string::npos;
}

bool adds_inputs(const reference::OpCase& c) {
  return c.name == "linear" || c.name.starts_with("expert_linear") || c.name == "embedding";
}

bool has_parameters(const reference::OpCase& c) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {  // a norm may go without
    Random random(seed);
    const Graph graph = reference::draw_fitting_layer(c, random);
    if (graph[LayerId(graph.size() - 1)].held().total() > 0) return true;
  }
  return false;
}

bool works_in_place(const reference::OpCase& c) {
  const std::vector<std::string> names = {"relu",    "relu6", "leaky_relu",   "elu",
                                          "sigmoid", "tanh",  "hard_sigmoid", "softcap",
                                          "dropout", "scale"};
  return std::find(names.begin(), names.end(), c.name) != names.end();
}

}  // namespace strata::shards
