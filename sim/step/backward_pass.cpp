#include "sim/graph/regions.h"
#include "sim/step/passes.h"

namespace strata {
namespace {

bool gathers_inputs_again(const StepInProgress& to, LayerId layer) {
  return to.options.gathers_again && backward_reads_input(to.graph[layer]) &&
         !to.graph.consumers(layer).empty() && !to.step[layer].again;
}

// Until the gradient of its output, and all that its kernels read, are there.
void add_begin(const StepInProgress& to, LayerId layer, std::uint32_t round,
               Recomputation& recomputation) {
  to.add(SumOutputGradient{layer}, round);
  recomputation.add(layer, round);
  if (gathers_inputs_again(to, layer) && !recomputation.puts_together_again(layer, round)) {
    to.add(GatherInputsAgain{layer}, round);
  }
  if (to.options.sync.zero >= Zero::parameters) {
    to.add(GatherParameters{layer, true, Phase::backward_data}, round);
  }
  if (!to.step[layer].phases[Phase::backward_statistics]) return;
  to.add(Compute{layer, Phase::backward_statistics}, round);
  to.add(SumStatistics{layer, Phase::backward_statistics}, round);
}

}  // namespace

void add_backward(const StepInProgress& to, LayerId layer, std::uint32_t round,
                  const Gradients& gradients, Recomputation& recomputation) {
  const Layer& l = to.graph[layer];
  const StepLayer& facts = to.step[layer];
  if (is_input(l.op) || !facts.needs_gradient) return;
  if (gradients.of_inputs) add_begin(to, layer, round, recomputation);
  const bool data = gradients.of_inputs && facts.phases[Phase::backward_data];
  const bool weights = gradients.of_parameters && facts.phases[Phase::backward_weights];
  if (data) {
    to.add(Compute{layer, Phase::backward_data, weights}, round);
  } else if (weights) {
    to.add(Compute{layer, Phase::backward_weights}, round);
  }
  if (!data) return;
  for (std::uint32_t input = 0; input < l.inputs.size(); ++input) {
    if (!wants_gradient(to.graph, to.step, layer, input)) continue;
    if (to.step.is_read_by_another(layer, input)) continue;
    to.add(ReturnGradient{layer, input}, round);
  }
}

}  // namespace strata
