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

}  // namespace strata
