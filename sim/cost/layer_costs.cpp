#include "sim/cost/layer_costs.h"

#include "sim/graph/regions.h"

namespace strata {

const PhaseCosts& LayerCosts::operator()(LayerId layer, const Tile& shard, const CostModel& model) {
  const Layer& l = graph_[layer];
  std::vector<Extents> inputs = input_extents(graph_, layer, shard);
  const Extents shape = extents(shard);
  const Parameters parameters = shard_parameters(l, shard);
  const std::lock_guard guard(lock_);
  for (const auto& known : known_[layer()]) {
    if (known->model == &model && known->output == shape && known->inputs == inputs &&
        known->parameters == parameters) {
      return known->costs;
    }
  }
  const ShardWork work{&l.op, shape, inputs, parameters, dtypes_};
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

LayerCosts::OfShards::OfShards(LayerCosts& all, LayerId layer, const Config& config)
    : all_(all),
      layer_(layer),
      partition_(partition(all.graph_[layer], config.degrees)),
      known_(config.devices.size()) {}

const PhaseCosts& LayerCosts::OfShards::operator()(std::size_t shard, const CostModel& model) {
  if (const PhaseCosts* known = known_[shard].load(std::memory_order_acquire)) return *known;
  const PhaseCosts& costs = all_(layer_, partition_.tile(static_cast<std::int64_t>(shard)), model);
  known_[shard].store(&costs, std::memory_order_release);
  return costs;
}

LayerCosts::OfShards& LayerCosts::of_shards(LayerId layer, const Config& config) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<OfShards>& known = of_shards_[layer()][config];
  if (!known) known.reset(new OfShards(*this, layer, config));
  return *known;
}

}  // namespace strata
