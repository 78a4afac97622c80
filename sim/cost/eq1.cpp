#include "sim/cost/eq1.h"

#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lower.h"
#include "sim/plan/redistribution.h"

namespace strata {
namespace {

std::vector<Movement> movements(std::span<const NeededBox> boxes, DType dtype, bool forward) {
  std::vector<Movement> result;
  for (const NeededBox& needed : boxes) {
    if (needed.local()) continue;
    const auto bytes = static_cast<double>(volume(needed.box) * element_bytes(dtype));
    result.push_back(forward ? Movement{needed.owner, needed.reader, bytes}
                             : Movement{needed.reader, needed.owner, bytes});
  }
  return result;
}

// The groups of shards with their devices; `bytes_of` gives what a shard's box contributes.
template <class BytesOf>
std::vector<ReplicaGroup> replica_groups(const Layer& layer, const Config& config,
                                         const std::vector<std::vector<std::uint32_t>>& groups,
                                         const BytesOf& bytes_of) {
  const Partition cut(layer.output, config.degrees);
  std::vector<ReplicaGroup> result;
  for (const auto& shards : groups) {
    ReplicaGroup& group = result.emplace_back();
    for (std::uint32_t shard : shards) group.devices.push_back(config.devices[shard]);
    group.bytes = bytes_of(cut.box(shards.front()));
  }
  return result;
}

}  // namespace

Eq1::Eq1(const Graph& graph, const Cluster& cluster, std::span<const CostModel* const> models,
         SyncAlgorithm sync, DType dtype)
    : graph_(graph),
      cluster_(cluster),
      models_(models),
      sync_(sync),
      dtype_(dtype),
      costs_(graph, dtype),
      sync_costs_(cluster),
      requires_gradient_(requires_gradient(graph)),
      ordinals_(parameter_ordinals(graph)) {}

Seconds Eq1::compute(LayerId layer, const Config& config) {
  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  const Partition cut(graph_[layer].output, config.degrees);
  Seconds slowest;
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    const PhaseCosts& costs =
        costs_(layer, cut.box(static_cast<std::int64_t>(shard)), *models_[device()]);
    Seconds sum;
    for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (phases[static_cast<Phase>(phase)]) sum += costs[phase].seconds;
    }
    slowest = std::max(slowest, sum / cluster_[device].speed);
  }
  return slowest;
}

Seconds Eq1::transfer(LayerId consumer, std::size_t input, const Config& producer_config,
                      const Config& consumer_config) const {
  const LayerId producer = graph_[consumer].inputs[input];
  if (std::holds_alternative<Input>(graph_[producer].op)) return {};
  if (earlier_reading(graph_[consumer], input)) return {};
  const auto boxes = needed_boxes(graph_, consumer, input, producer_config, consumer_config);
  const auto time = [&](bool forward) {
    return bottleneck_time(movement_loads(cluster_, movements(boxes, dtype_, forward)), cluster_);
  };
  const bool returns = requires_gradient_[producer()] && requires_gradient_[consumer()];
  return returns ? time(true) + time(false) : time(true);
}

Seconds Eq1::statistics_time(LayerId layer, const Config& config) {
  const Layer& l = graph_[layer];
  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  const auto time = [&](Phase phase) {
    if (!phases[phase]) return Seconds{};
    const bool forward = phase == Phase::forward_statistics;
    const auto bytes_of = [&](const Box& box) {
      const Statistics values = statistics(l, box);
      return Bytes{4 * (forward ? values.forward_values : values.backward_values)};
    };
    const PerDim<bool> over = statistics(l, whole(l.output)).over;
    const auto groups = replica_groups(l, config, shard_groups(config.degrees, over), bytes_of);
    if (groups.front().devices.size() < 2) return Seconds{};
    return sync_costs_.time(sync_costs_.cheapest(statistics_algorithms(), groups, 0), groups, 0);
  };
  return time(Phase::forward_statistics) + time(Phase::backward_statistics);
}

Seconds Eq1::sync(LayerId layer, const Config& config) {
  const Layer& l = graph_[layer];
  const Seconds exchange = statistics_time(layer, config);
  const auto parts = replica_shards(config.degrees);
  const bool updates = step_phases(graph_, layer, requires_gradient_)[Phase::update];
  if (!updates || parts.front().size() < 2) return exchange;
  const auto groups = replica_groups(l, config, parts, [&](const Box& box) {
    return Bytes{shard_parameters(l, box).total() * element_bytes(dtype_)};
  });
  const std::uint32_t ordinal = ordinals_[layer()];
  const SyncAlgorithm algorithm =
      sync_ == SyncAlgorithm::automatic
          ? sync_costs_.cheapest(parameter_algorithms(), groups, ordinal)
          : sync_;
  return exchange + sync_costs_.time(algorithm, groups, ordinal);
}

std::vector<LayerTerms> Eq1::terms(const Strategy& strategy) {
  std::vector<LayerTerms> result(graph_.size());
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const LayerId layer(i);
    if (std::holds_alternative<Input>(graph_[layer].op)) continue;
    result[i].compute = compute(layer, strategy[layer]);
    result[i].sync = sync(layer, strategy[layer]);
    const std::vector<LayerId>& inputs = graph_[layer].inputs;
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      result[i].transfer += transfer(layer, input, strategy[inputs[input]], strategy[layer]);
    }
  }
  return result;
}

Seconds total(std::span<const LayerTerms> terms) {
  Seconds sum;
  for (const LayerTerms& t : terms) sum += t.total();
  return sum;
}

}  // namespace strata
