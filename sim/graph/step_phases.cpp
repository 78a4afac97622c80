#include "sim/graph/step_phases.h"

#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"

namespace strata {

PhaseSet step_phases(const Graph& graph, LayerId layer, const std::vector<bool>& needs_gradient) {
  const Layer& l = graph[layer];
  PhaseSet phases;
  if (is_input(l.op)) return phases;
  const Statistics sums = statistics(l, whole(l.output));
  phases.add(Phase::forward_statistics, sums.forward_values > 0);
  phases.add(Phase::forward, true);
  if (!needs_gradient[layer()]) return phases;
  bool data = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    data = data || (needs_gradient[l.inputs[k]()] && has_gradient(l.op, k));
  }
  const bool parameters = l.trains();
  const bool from_sums = parameters && sums.give_parameter_gradients();
  phases.add(Phase::backward_statistics, sums.backward_values > 0 && (data || from_sums));
  phases.add(Phase::backward_data, data);
  phases.add(Phase::backward_weights, parameters && !from_sums);
  phases.add(Phase::update, parameters && l.held().total() > 0);
  return phases;
}

}  // namespace strata
