#include "sim/step/passes.h"

#include <algorithm>

namespace strata {
namespace {

/// Layers of an instance: [first, end).
struct LayerRange {
  std::size_t first = 0, end = 0;
};

LayerRange layers_of(const Graph& graph, const Step& step, const Instance& instance) {
  if (!step.in_turn || step.stages.stages() <= 1) return {0, graph.size()};
  const Chunk& chunk = step.stages.chunks[instance.chunk];
  return {chunk.first(), chunk.last() + 1};
}

}  // namespace

void add_passes(const Graph& graph, const Strategy& strategy, const StepOptions& options,
                Step& step) {
  const StepInProgress to{graph, strategy, options, step};
  // Of one round, what a device computes first follows from what it waits for.
  const Pipeline pipeline = step.in_turn ? pipeline_of(graph, step.stages) : Pipeline{};
  Recomputation recomputation(to);
  ReplicaSums sums(to);
  std::uint32_t round = 0;
  constexpr std::size_t kActions = 8, kMost = 1'000'000;  // of most layers in a round; in all
  step.actions.reserve(std::min(kActions * graph.size() * options.rounds, kMost));
  for (const Instance& instance : instances(options.schedule, pipeline, options.rounds)) {
    round = instance.round;
    const LayerRange layers = layers_of(graph, step, instance);
    const std::size_t first = step.actions.size();
    if (instance.pass == Pass::forward) {
      for (std::size_t i = layers.first; i < layers.end; ++i) add_forward(to, LayerId(i), round);
    } else {
      const Gradients gradients{.of_inputs = instance.pass != Pass::backward_weights,
                                .of_parameters = instance.pass != Pass::backward_inputs};
      for (std::size_t i = layers.end; i-- > layers.first;) {
        add_backward(to, LayerId(i), round, gradients, recomputation);
        if (gradients.of_parameters) sums.add(LayerId(i), round);
      }
    }
    step.instances.push_back({instance, first, step.actions.size()});
  }
  step.end = step.actions.size();
  sums.add_end(round);
  std::vector<StepInstance*> last(options.rounds);
  for (StepInstance& instance : step.instances) last[instance.instance.round] = &instance;
  for (StepInstance* instance : last) instance->ends_round = true;
}

}  // namespace strata
