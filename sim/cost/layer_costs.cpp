#include "sim/cost/layer_costs.h"

#include "sim/graph/regions.h"

namespace strata {

const PhaseCosts& LayerCosts::operator()(LayerId layer, const Tile& shard, const CostModel& model) {
  const Layer& l = graph_[layer];
  std::vector<Extents> inputs = input_extents(graph_, layer, shard);
  const Extents shape = extents(shard);
  const Parameters parameters = shard_parameters(l, shard);
  for (const auto& known : known_[layer()]) {
    if (known->model == &model && known->output == shape && known->inputs == inputs &&
        known->parameters == parameters) {
      return known->costs;
    }
  }
  const ShardWork work{&l.op, shape, inputs, parameters, dtype_};
  PhaseCosts costs;
  for (int phase = 0; phase < kKernelPhases; ++phase) {
    Cost& cost = costs[static_cast<std::size_t>(phase)];
    cost = model.compute(work, static_cast<Phase>(phase));
    cost.seconds = cost.seconds / l.speed;
  }
  known_[layer()].push_back(
      std::make_unique<const Known>(Known{&model, shape, std::move(inputs), parameters, costs}));
  return known_[layer()].back()->costs;
}

}  // namespace strata
