#include "sim/cost/layer_costs.h"

#include <algorithm>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// The hull of the boxes: what a kernel is given as its input.
Extents hull(const std::vector<Box>& boxes) {
  if (boxes.empty()) return {};
  Box hull = boxes.front();
  for (const Box& box : boxes) {
    for (Dim dim : kDims) {
      hull[dim].begin = std::min(hull[dim].begin, box[dim].begin);
      hull[dim].end = std::max(hull[dim].end, box[dim].end);
    }
  }
  return extents(hull);
}

}  // namespace

const PhaseCosts& LayerCosts::operator()(LayerId layer, const Box& output, const CostModel& model) {
  const Layer& l = graph_[layer];
  std::vector<Extents> inputs;
  for (std::size_t i = 0; i < l.inputs.size(); ++i) {
    inputs.push_back(hull(needed_input(graph_, layer, i, output)));
  }
  const Extents shape = extents(output);
  for (const Known& known : known_[layer()]) {
    if (known.model == &model && known.output == shape && known.inputs == inputs) {
      return known.costs;
    }
  }
  const ShardWork work{&l.op, shape, inputs, shard_parameters(l, output), dtype_};
  PhaseCosts costs;
  for (int phase = 0; phase < kPhaseCount; ++phase) {
    costs[static_cast<std::size_t>(phase)] = model.compute(work, static_cast<Phase>(phase));
  }
  known_[layer()].push_back({&model, shape, std::move(inputs), costs});
  return known_[layer()].back().costs;
}

std::array<bool, kPhaseCount> phases_of(const Graph& graph, LayerId layer,
                                        const std::vector<bool>& requires_gradient) {
  const Layer& l = graph[layer];
  if (std::holds_alternative<Input>(l.op)) return {};
  const Statistics sums = statistics(l, whole(l.output));
  const bool parameters = l.parameters.total() > 0;
  const bool data = std::any_of(l.inputs.begin(), l.inputs.end(),
                                [&](LayerId input) { return requires_gradient[input()]; });
  std::array<bool, kPhaseCount> phases{};
  phases[static_cast<std::size_t>(Phase::forward_statistics)] = sums.forward_values > 0;
  phases[static_cast<std::size_t>(Phase::forward)] = true;
  phases[static_cast<std::size_t>(Phase::backward_statistics)] =
      sums.backward_values > 0 && requires_gradient[layer()];
  phases[static_cast<std::size_t>(Phase::backward_data)] = data;
  phases[static_cast<std::size_t>(Phase::backward_weights)] =
      parameters && sums.backward_values == 0;
  phases[static_cast<std::size_t>(Phase::update)] = parameters;
  return phases;
}

}  // namespace strata
