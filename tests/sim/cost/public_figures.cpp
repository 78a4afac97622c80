#include "tests/sim/cost/public_figures.h"

#include <algorithm>
#include <vector>

namespace strata {
namespace {

// The gradients of a layer: none towards the network's data.
bool runs(const Layer& layer, Phase phase, const std::vector<bool>& needed) {
  if (phase != Phase::backward_data) return true;
  return std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](LayerId input) { return needed[input()]; });
}

}  // namespace

std::span<const PublicFigure> public_figures() {
  static constexpr PublicFigure kFigures[] = {
      {"p100", "inception_v3", 64, 142}, {"p100", "inception_v3", 32, 128},
      {"p100", "resnet50", 64, 238},     {"p100", "resnet50", 32, 210},
      {"p100", "resnet152", 64, 95.6},   {"p100", "resnet152", 32, 85.3},
      {"p100", "vgg16", 64, 132},        {"p100", "vgg16", 32, 124},
      {"p100", "alexnet", 512, 2987},    {"k80", "inception_v3", 64, 30.5},
      {"k80", "inception_v3", 32, 29.3}, {"k80", "resnet50", 64, 56.8},
      {"k80", "resnet50", 32, 53.9},     {"k80", "resnet152", 32, 20.8},
      {"k80", "vgg16", 32, 30.3},        {"k80", "alexnet", 512, 656},
  };
  return kFigures;
}

Seconds one_device_step(const Graph& graph, const CostModel& costs) {
  const std::vector<bool> needed = requires_gradient(graph);
  Seconds step;
  for (const Layer& layer : graph.layers()) {
    std::vector<Extents> inputs;
    for (LayerId input : layer.inputs) inputs.push_back(graph[input].output);
    const ShardWork work{&layer.op, layer.output, inputs, layer.parameters, DType::fp32};
    for (int phase = 0; phase < kPhaseCount; ++phase) {
      if (!runs(layer, static_cast<Phase>(phase), needed)) continue;
      step += costs.compute(work, static_cast<Phase>(phase)).seconds;
    }
  }
  return step;
}

}  // namespace strata
