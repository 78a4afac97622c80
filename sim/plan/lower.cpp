#include "sim/plan/lower.h"

#include <variant>

#include "sim/plan/lowering.h"

namespace strata {

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
      sync_costs_(cluster) {
  for (std::size_t i = 0; i < graph.size(); ++i) gradient_[i].resize(shard_count(LayerId(i)));
}

bool Lowering::is_input(LayerId layer) const {
  return strata::is_input(graph_[layer].op);
}

Box Lowering::shard_box(LayerId layer, std::size_t shard) const {
  return Partition(graph_[layer].output, strategy_[layer].degrees)
      .box(static_cast<std::int64_t>(shard));
}

Plan Lowering::run() && {
  for (std::size_t i = 0; i < graph_.size(); ++i) lower_forward(LayerId(i));
  for (std::size_t i = graph_.size(); i-- > 0;) lower_backward(LayerId(i));
  place_buffers();
  describe();
  return std::move(builder_).build();
}

// What an executor needs beside the tasks: where shards lie, and what they read.
void Lowering::describe() {
  std::vector<Placement> placements;
  std::vector<std::vector<std::vector<NeededBox>>> reads(graph_.size());
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const Config& config = strategy_[LayerId(i)];
    placements.push_back({config.degrees, config.devices});
    for (Edge& edge : edges_[i]) reads[i].push_back(std::move(edge.boxes));
  }
  builder_.place(std::move(placements));
  builder_.read(std::move(reads));
  builder_.work_in_place(std::move(in_place_));
}

Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
           const LowerOptions& options) {
  return Lowering(graph, cluster, strategy, options).run();
}

}  // namespace strata
