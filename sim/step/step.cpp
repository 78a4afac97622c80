#include "sim/step/step.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/step/passes.h"
#include "sim/step/redistribution.h"
#include "sim/strategy/recomputation.h"
#include "sim/strategy/shared_weight.h"

namespace strata {
namespace {

bool holds_trained(const Graph& graph, const std::vector<StepLayer>& layers, LayerId layer) {
  const LayerId owner = graph[layer].weight_of;
  if (!owner.valid()) return layers[layer()].phases[Phase::update];
  return layers[layer()].holder == layer && holds_trained(graph, layers, owner);
}

std::vector<StepLayer> layers_of(const Graph& graph, const Strategy& strategy,
                                 const KernelTraits& kernels) {
  const std::vector<bool> needs_gradient = requires_gradient(graph);
  const std::vector<bool> again = strategy.segments().empty()
                                      ? std::vector<bool>(graph.size())
                                      : computed_again(graph, strategy.segments(), kernels);
  std::vector<StepLayer> layers(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId layer(i);
    StepLayer& facts = layers[i];
    facts.phases = step_phases(graph, layer, needs_gradient);
    facts.needs_gradient = needs_gradient[i];
    facts.again = again[i];
    facts.repeats = partition(graph[layer], strategy[layer].degrees).repeats();
    facts.whole_gradient = gets_whole_gradient(graph, strategy, layer);
    const bool cut_in_r = strategy[layer].degrees.r > 1;
    facts.divides_sums = cut_in_r && !facts.repeats;
    facts.spreads_gradient = cut_in_r && !facts.whole_gradient;
    facts.shared_reader = shared_reader(graph, strategy, layer);
    facts.holder = weight_holder(graph, layer, strategy.configs());
    const LayerId owner = graph[layer].weight_of;
    facts.copied = owner.valid() && facts.holder == layer;
    if (facts.copied) layers[owner()].copied = true;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    layers[i].trains = holds_trained(graph, layers, LayerId(i));
  }
  return layers;
}

// Layers that nobody trains, whose parameters replicas share all the same. Those of which several
// stages have copies stay whole.
std::vector<bool> frozen_and_shared(const Graph& graph, const std::vector<StepLayer>& layers,
                                    const GradientSync& sync) {
  if (sync.zero < Zero::parameters) return {};
  std::vector<bool> shared;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    const bool held = layer.held().total() > 0;
    shared.push_back(held && layer.frozen && !layers[i].copied);
    if (!shared.back() || layer.format == WeightFormat::plain) continue;
    throw InputError(fmt::format(
        "`zero` 3 shares parameters of one type, but layer {} keeps its own in fewer bits; "
        "allowed: `zero` 0, 1 or 2, or `train` without dtype",
        layer.name));
  }
  return shared;
}

std::vector<Bucket> buckets_of(const Graph& graph, const Strategy& strategy,
                               const std::vector<StepLayer>& layers, const StepOptions& options) {
  std::vector<bool> trains;
  trains.reserve(layers.size());
  for (const StepLayer& layer : layers) trains.push_back(layer.phases[Phase::update]);
  return gradient_buckets(graph, strategy, trains, options.sync.bucket_in_use(),
                          options.gradient_bytes, options.sync.unit(), options.sync.zero_group,
                          frozen_and_shared(graph, layers, options.sync));
}

// One round of one stage is in no order but that of its layers, unless a schedule splits its
// backward pass.
bool computes_in_turn(const StepOptions& options, const Stages& stages) {
  if (options.rounds > 1) return true;
  if (!options.schedule.is_given()) return false;
  if (stages.stages() > 1) return true;
  return std::ranges::any_of(
      instances(options.schedule, Pipeline{}, options.rounds),
      [](const Instance& instance) { return instance.pass == Pass::backward_weights; });
}

}  // namespace

bool shares_gradients(const GradientSync& sync, const Bucket& bucket) {
  return sync.zero >= Zero::gradients && !bucket.frozen && !has_copies(bucket);
}

bool shares_parameters(const GradientSync& sync, const Bucket& bucket) {
  return sync.zero >= Zero::parameters && !has_copies(bucket);
}

bool wants_gradient(const Graph& graph, const Step& step, LayerId layer, std::size_t input) {
  const LayerId producer = graph[layer].inputs[input];
  if (is_input(graph[producer].op) || !step[producer].needs_gradient) return false;
  if (!has_gradient(graph[layer].op, input)) return false;
  return !earlier_reading(graph[layer], input);  // both gradients are one sum
}

Step make_step(const Graph& graph, const Strategy& strategy, const StepOptions& options) {
  check(options.sync);
  Step step;
  step.rounds = options.rounds;
  step.layers = layers_of(graph, strategy, options.kernels);
  step.products = merge_products(graph, options.products);
  step.buckets = buckets_of(graph, strategy, step.layers, options);
  step.stages = stages_of(graph, strategy);
  step.in_turn = computes_in_turn(options, step.stages);
  step.shared_readings = shared_readings(graph, strategy, step.stages);
  for (const auto& [other, first] : step.shared_readings) step.read_with[first].push_back(other);
  add_passes(graph, strategy, options, step);
  return step;
}

}  // namespace strata
