#include "tests/exec/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace strata::reference {
namespace {

bool is_loss(const Layer& layer) {
  return std::holds_alternative<SoftmaxCrossEntropy>(layer.op);
}

bool is_input(const Layer& layer) {
  return strata::is_input(layer.op);
}

void add(std::vector<double>& sum, std::vector<double> more) {
  if (sum.empty()) return sum.swap(more);
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

void add(Weights& sum, Weights more) {
  add(sum.weight, std::move(more.weight));
  add(sum.bias, std::move(more.bias));
}

/// A step on its way.
struct Pass {
  const Graph& graph;
  const std::vector<Weights>& weights;
  const Batch& batch;
  const DropoutMask& mask;
  Step step;

  LayerCall call(LayerId id) const {
    LayerCall call{&graph, id, {}, &weights[weight_owner(graph, id)()], batch.labels, &mask};
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
    add(step.gradients[weight_owner(graph, id)()], std::move(g.weights));
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

/// Whether its parameters are looked up or added, not multiplied with.
bool is_table(const Op& op) {
  return std::holds_alternative<Embedding>(op) || std::holds_alternative<PositionEmbedding>(op) ||
         std::holds_alternative<ClassToken>(op);
}

/// Of what reads the input, the fewest numbers that have a vector; 0 where nobody looks one up.
std::int64_t vocabulary(const Graph& graph, LayerId input) {
  std::int64_t least = 0;
  for (LayerId reader : graph.consumers(input)) {
    const auto* table = std::get_if<Embedding>(&graph[reader].op);
    if (table == nullptr) continue;
    least = least == 0 ? table->vocabulary : std::min(least, table->vocabulary);
  }
  return least;
}

Weights random_weights(const Layer& layer, std::mt19937_64& random) {
  const Parameters& p = layer.held();
  if (p.total() == 0) return {};
  if (traits(layer.op).scales_channels) {
    return {uniform(p.weight, 0.5, 1.5, random), uniform(p.bias, -0.1, 0.1, random)};
  }
  const bool of_heads = std::holds_alternative<Attention>(layer.op);
  if (is_table(layer.op) || of_heads) return {uniform(p.weight, -1, 1, random), {}};
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
  std::int64_t correct = 0;
  std::size_t next = 0;
  for (std::int64_t n = 0; n < logits.extents[Dim::n]; ++n) {
    for (std::int64_t w = 0; w < logits.plane(); ++w) {
      const auto at = [&](std::int64_t c) { return logits[logits.index(n, c, 0, 0, 0) + w]; };
      std::int64_t largest = 0;
      for (std::int64_t c = 1; c < logits.extents[Dim::c]; ++c)
        largest = at(c) > at(largest) ? c : largest;
      correct += largest == labels[next++] ? 1 : 0;
    }
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

Tensor random_input(const Graph& graph, LayerId input, double low, double high,
                    std::mt19937_64& random) {
  Tensor x(graph[input].output);
  const std::int64_t numbers = vocabulary(graph, input);
  x.values = uniform(x.size(), numbers > 0 ? 0 : low,
                     numbers > 0 ? static_cast<double>(numbers) : high, random);
  if (numbers > 0) {
    for (double& value : x.values) value = std::floor(value);
  }
  return x;
}

Batch random_batch(const Graph& graph, std::mt19937_64& random) {
  Batch batch;
  for (std::size_t l = 0; l < graph.size(); ++l) {
    const Layer& layer = graph[LayerId(l)];
    if (is_input(layer)) {
      batch.inputs.push_back(random_input(graph, LayerId(l), -1, 1, random));
    } else if (is_loss(layer) && batch.labels.empty()) {
      std::uniform_int_distribution<std::int64_t> draw(0, layer.output[Dim::c] - 1);
      const Extents& e = layer.output;
      const std::int64_t count = volume(e) / e[Dim::c];
      for (std::int64_t i = 0; i < count; ++i) batch.labels.push_back(draw(random));
    }
  }
  return batch;
}

double dropout_probability(const Op& op) {
  if (const auto* dropout = std::get_if<Dropout>(&op)) return dropout->probability;
  const auto* attention = std::get_if<Attention>(&op);
  return attention != nullptr ? attention->dropout : 0;
}

}  // namespace strata::reference
