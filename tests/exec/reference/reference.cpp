#include "tests/exec/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace strata::reference {
namespace {

bool is_loss(const Layer& layer) {
  return std::holds_alternative<SoftmaxCrossEntropy>(layer.op);
}

bool is_input(const Layer& layer) {
  return strata::is_input(layer.op);
}

/// A step on its way.
struct Pass {
  const Graph& graph;
  const std::vector<Weights>& weights;
  const Batch& batch;
  const DropoutMask& mask;
  Step step;

  LayerCall call(LayerId id) const {
    LayerCall call{&graph, id, {}, &weights[id()], batch.labels, &mask};
    for (LayerId input : graph[id].inputs) call.inputs.push_back(&step.outputs[input()]);
    return call;
  }

  void forward() {
    std::size_t next_input = 0;
    step.outputs.resize(graph.size());
    for (std::size_t l = 0; l < graph.size(); ++l) {
      const Layer& layer = graph[LayerId(l)];
      step.outputs[l] =
          is_input(layer) ? batch.inputs.at(next_input++) : reference::forward(call(LayerId(l)));
      if (is_loss(layer)) judge(step.outputs[layer.inputs[0]()]);
    }
  }

  void judge(const Tensor& logits) {
    step.loss += cross_entropy(logits, batch.labels);
    step.correct += count_correct(logits, batch.labels);
  }

  /// Consumers come after what they read, so going back every gradient is complete when it is used.
  void backward() {
    for (const Layer& layer : graph.layers()) step.output_gradients.emplace_back(layer.output);
    step.gradients.resize(graph.size());
    for (std::size_t l = graph.size(); l-- > 0;) {
      if (!is_input(graph[LayerId(l)])) backward(LayerId(l));
    }
  }

  void backward(LayerId id) {
    Gradients g = reference::backward(call(id), step.outputs[id()], step.output_gradients[id()]);
    step.gradients[id()] = std::move(g.weights);
    for (std::size_t k = 0; k < g.inputs.size(); ++k) {
      Tensor& sum = step.output_gradients[graph[id].inputs[k]()];
      for (std::int64_t i = 0; i < sum.size(); ++i) sum[i] += g.inputs[k][i];
    }
  }
};

void descend(std::vector<double>& values, const std::vector<double>& gradient, double rate) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradient[i];
}

std::vector<double> uniform(std::int64_t count, double low, double high, std::mt19937_64& random) {
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = draw(random);
  return values;
}

Weights random_weights(const Layer& layer, std::mt19937_64& random) {
  const Parameters& p = layer.parameters;
  if (p.total() == 0) return {};
  if (traits(layer.op).scales_channels) {
    return {uniform(p.weight, 0.5, 1.5, random), uniform(p.bias, -0.1, 0.1, random)};
  }
  const auto outputs = static_cast<double>(layer.output[Dim::c]);
  const double bound = std::sqrt(3 * outputs / static_cast<double>(p.weight));
  return {uniform(p.weight, -bound, bound, random), uniform(p.bias, -0.1, 0.1, random)};
}

}  // namespace

Step run_step(const Graph& graph, const std::vector<Weights>& weights, const Batch& batch,
              const DropoutMask& mask) {
  Pass pass{graph, weights, batch, mask, {}};
  pass.forward();
  pass.backward();
  return std::move(pass.step);
}

std::int64_t count_correct(const Tensor& logits, std::span<const std::int64_t> labels) {
  const std::int64_t classes = logits.extents[Dim::c];
  std::int64_t correct = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const auto row = logits.values.begin() + static_cast<std::int64_t>(n) * classes;
    if (std::max_element(row, row + classes) - row == labels[n]) ++correct;
  }
  return correct;
}

void descend(std::vector<Weights>& weights, const std::vector<Weights>& gradients, double rate) {
  for (std::size_t l = 0; l < weights.size(); ++l) {
    descend(weights[l].weight, gradients[l].weight, rate);
    descend(weights[l].bias, gradients[l].bias, rate);
  }
}

std::vector<Weights> random_weights(const Graph& graph, std::mt19937_64& random) {
  std::vector<Weights> weights;
  for (const Layer& layer : graph.layers()) weights.push_back(random_weights(layer, random));
  return weights;
}

Batch random_batch(const Graph& graph, std::mt19937_64& random) {
  Batch batch;
  for (const Layer& layer : graph.layers()) {
    if (is_input(layer)) {
      batch.inputs.emplace_back(layer.output).values = uniform(volume(layer.output), -1, 1, random);
    } else if (is_loss(layer) && batch.labels.empty()) {
      std::uniform_int_distribution<std::int64_t> draw(0, layer.output[Dim::c] - 1);
      for (std::int64_t n = 0; n < graph.batch(); ++n) batch.labels.push_back(draw(random));
    }
  }
  return batch;
}

}  // namespace strata::reference
