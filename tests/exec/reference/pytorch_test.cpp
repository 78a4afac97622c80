// The referee against PyTorch, whose definitions it takes for its own: one step of small networks
// that between them hold every op, in double precision. tests/golden/pytorch/make.py wrote what is
// compared, and says what it is.

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/graph/model_file.h"
#include "tests/exec/reference/reference.h"
#include "tests/paths.h"

namespace strata::reference {
namespace {

/// As make.py: SplitMix64 seeded with the FNV-1a hash of a name, in [-1, 1).
std::vector<double> uniform(std::string_view name, std::size_t count) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (char c : name) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::vector<double> values(count);
  for (double& value : values) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    value = std::ldexp(static_cast<double>((z ^ (z >> 31)) >> 11), -52) - 1;
  }
  return values;
}

std::vector<double> scaled(const std::string& name, std::int64_t count, double offset,
                           double factor) {
  std::vector<double> values = uniform(name, static_cast<std::size_t>(count));
  for (double& value : values) value = offset + factor * value;
  return values;
}

std::vector<Weights> named_weights(const Graph& graph) {
  std::vector<Weights> all;
  for (const Layer& layer : graph.layers()) {
    const Parameters& p = layer.parameters;
    const bool norm = traits(layer.op).scales_channels;
    const double inputs = static_cast<double>(p.weight) / static_cast<double>(layer.output[Dim::c]);
    all.push_back(
        {scaled(layer.name + ".weight", p.weight, norm ? 1 : 0, norm ? 0.5 : std::sqrt(3 / inputs)),
         scaled(layer.name + ".bias", p.bias, 0, 0.1)});
  }
  return all;
}

Batch named_batch(const Graph& graph) {
  Batch batch;
  const Layer &first = graph.layers().front(), &last = graph.layers().back();
  batch.inputs.emplace_back(first.output);
  batch.inputs[0].values = scaled(first.name, volume(first.output), 0, 1);
  for (std::int64_t n = 0; n < graph.batch(); ++n) {
    batch.labels.push_back(7 * n % last.output[Dim::c]);
  }
  return batch;
}

DropoutMask named_mask(const Graph& graph) {
  return [&graph](LayerId id, std::int64_t element) {
    const double p = dropout_probability(graph[id].op);
    const Layer& layer = graph[id];
    const auto* attention = std::get_if<Attention>(&layer.op);
    const std::int64_t keys = attention == nullptr ? 1 : graph[layer.inputs[1]].output[Dim::w];
    const auto places = static_cast<std::size_t>(
        volume(layer.output) / (attention == nullptr ? 1 : attention->head_size) * keys);
    const double drawn =
        uniform(graph[id].name + ".mask", places)[static_cast<std::size_t>(element)];
    return drawn >= 2 * p - 1 ? 1 / (1 - p) : 0;
  };
}

const std::vector<double>& tensor_of(const Step& step, LayerId id, std::string_view what) {
  if (what == "output") return step.outputs[id()].values;
  if (what == "gradient") return step.output_gradients[id()].values;
  return what == "weight" ? step.gradients[id()].weight : step.gradients[id()].bias;
}

void expect_tensor(const std::vector<double>& values, const std::string& label, double probe,
                   double norm) {
  const std::vector<double> probing = uniform(label + ".probe", values.size());
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    product += values[i] * probing[i];
    squares += values[i] * values[i];
  }
  // Gradients that cancel (those of what batch norm follows) are rounding alone: hence 1e-13.
  EXPECT_NEAR(std::sqrt(squares), norm, 1e-10 * norm + 1e-13) << label;
  EXPECT_NEAR(product, probe, 1e-10 * norm + 1e-13) << label;
}

class PyTorch : public testing::TestWithParam<const char*> {};

TEST_P(PyTorch, ComputesTheSame) {
  const std::string path = source_path("tests/golden/pytorch/") + GetParam();
  const Graph graph = read_model(path + ".toml", 3);
  const Step step = run_step(graph, named_weights(graph), named_batch(graph), named_mask(graph));
  std::ifstream golden(path + ".txt");
  std::string layer, what;
  double probe = 0, norm = 0;
  ASSERT_TRUE(golden >> layer >> norm);
  EXPECT_NEAR(step.loss, norm, 1e-12 * norm);
  std::size_t outputs = 0;
  while (golden >> layer >> what >> probe >> norm) {
    ASSERT_TRUE(graph.find(layer).valid()) << layer;
    expect_tensor(tensor_of(step, graph.find(layer), what), layer + "." + what, probe, norm);
    outputs += what == "output" ? 1 : 0;
  }
  EXPECT_EQ(outputs, graph.size());
}

INSTANTIATE_TEST_SUITE_P(Golden, PyTorch,
                         testing::Values("alex", "gated", "inception", "signal", "video"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace strata::reference
