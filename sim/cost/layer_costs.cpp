#include "sim/cost/layer_costs.h"

#include "sim/cost/merged_products.h"
#include "sim/graph/regions.h"
#include "sim/plan/work_kind.h"

namespace strata {
namespace {

// Of a shard of a layer that is one product with others: what it has of that product's cost. A host
// launches the product where the first of its parts is computed. Where nothing is known of the
// product but of the layer, the layer's own cost stays.
void merge(const MergedProduct& product, const CostModel& model, std::span<const Extents> inputs,
           DTypes dtypes, PhaseCosts& costs) {
  const ShardWork work{&product.op, product.output, inputs, product.parameters, dtypes};
  for (int i = 0; i < kKernelPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    Cost& own = costs[static_cast<std::size_t>(i)];
    Cost merged = model.compute(work, phase);
    if (merged.source == CostSource::analytic && own.source != CostSource::analytic) continue;
    merged.seconds = product.share * merged.seconds;
    if (!(is_forward(phase) ? product.first : product.last)) merged.kernels = 0;
    own = merged;
  }
}

}  // namespace

PhaseCosts shard_costs(const Graph& graph, LayerId layer, const Tile& shard,
                       std::span<const Extents> inputs, DTypes dtypes, const CostModel& model) {
  const Layer& l = graph[layer];
  const ShardWork work{&l.op, extents(shard), inputs, shard_parameters(l, shard), dtypes};
  PhaseCosts costs;
  for (int phase = 0; phase < kKernelPhases; ++phase) {
    costs[static_cast<std::size_t>(phase)] = model.compute(work, static_cast<Phase>(phase));
  }
  if (model.kernels().merges_products) {
    const std::vector<LayerId> layers = products_of_one_input(graph, layer);
    if (!layers.empty()) {
      merge(merged_product(graph, layers, layer, shard), model, inputs, dtypes, costs);
    }
  }
  for (Cost& cost : costs) cost.seconds = cost.seconds / l.speed;
  return costs;
}

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
  const PhaseCosts costs = shard_costs(graph_, layer, shard, inputs, dtypes_, model);
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
