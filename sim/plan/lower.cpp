#include "sim/plan/lower.h"

#include <numeric>
#include <variant>

#include "sim/plan/lowering.h"

namespace strata {

namespace {

LoweredShards all_shards(const Config& config) {
  std::vector<std::uint32_t> all(config.devices.size());
  std::iota(all.begin(), all.end(), 0u);
  return {all, all};
}

}  // namespace

Lowering::Lowering(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                   const LowerOptions& options)
    : graph_(graph),
      cluster_(cluster),
      strategy_(strategy),
      options_(options),
      builder_(options.dtypes.values, cluster.device_count()),
      requires_gradient_(requires_gradient(graph)),
      ordinals_(parameter_ordinals(graph)),
      tasks_(graph.size()),
      edges_(graph.size()),
      gradient_(graph.size()),
      last_sync_(cluster.device_count()),
      sync_costs_(cluster),
      buffers_(graph.size()),
      in_place_(graph.size()),
      output_is_read_(graph.size()) {
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (cluster[DeviceId(d)].puts_together()) builder_.assemble(DeviceId(d));
  }
  for (const Config& config : strategy.configs()) lowered_.push_back(all_shards(config));
  for (std::size_t i = 0; i < graph.size(); ++i) gradient_[i].resize(lowered(LayerId(i)).size());
}

bool Lowering::is_input(LayerId layer) const {
  return strata::is_input(graph_[layer].op);
}

Box Lowering::shard_box(LayerId layer, std::size_t shard) const {
  return partition(graph_[layer], strategy_[layer].degrees).box(static_cast<std::int64_t>(shard));
}

Tile Lowering::shard_tile(LayerId layer, std::size_t shard) const {
  return partition(graph_[layer], strategy_[layer].degrees).tile(static_cast<std::int64_t>(shard));
}

Plan Lowering::run() && {
  place_buckets();
  for (std::size_t i = 0; i < graph_.size(); ++i) lower_forward(LayerId(i));
  for (std::size_t i = graph_.size(); i-- > 0;) lower_backward(LayerId(i));
  std::vector<Placement> placements;
  for (const Config& config : strategy_.configs()) {
    placements.push_back({config.degrees, config.devices});
  }
  builder_.place(std::move(placements));
  return std::move(builder_).build();
}

Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
           const LowerOptions& options) {
  return Lowering(graph, cluster, strategy, options).run();
}

}  // namespace strata
