#include "sim/cost/eq1.h"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/graph/regions.h"
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

std::vector<std::vector<DeviceId>> on_devices(const std::vector<std::vector<std::uint32_t>>& groups,
                                              const Config& config) {
  std::vector<std::vector<DeviceId>> result;
  for (const auto& shards : groups) {
    std::vector<DeviceId>& devices = result.emplace_back();
    for (std::uint32_t shard : shards) devices.push_back(config.devices[shard]);
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
      requires_gradient_(requires_gradient(graph)),
      ordinals_(parameter_ordinals(graph)) {}

Seconds Eq1::compute(LayerId layer, const Config& config) {
  const auto phases = phases_of(graph_, layer, requires_gradient_);
  const Partition cut(graph_[layer].output, config.degrees);
  Seconds slowest;
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    const PhaseCosts& costs =
        costs_(layer, cut.box(static_cast<std::int64_t>(shard)), *models_[device()]);
    Seconds sum;
    for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (phases[phase]) sum += costs[phase].seconds;
    }
    slowest = std::max(slowest, sum / cluster_[device].speed);
  }
  return slowest;
}

Seconds Eq1::transfer(LayerId consumer, std::size_t input, const Config& producer_config,
                      const Config& consumer_config) const {
  const LayerId producer = graph_[consumer].inputs[input];
  if (std::holds_alternative<Input>(graph_[producer].op)) return {};
  const auto boxes = needed_boxes(graph_, consumer, input, producer_config, consumer_config);
  const auto time = [&](bool forward) {
    return bottleneck_time(movement_loads(cluster_, movements(boxes, dtype_, forward)), cluster_);
  };
  return requires_gradient_[producer()] ? time(true) + time(false) : time(true);
}

const std::vector<CollectivePhase>& Eq1::phases(SyncAlgorithm algorithm,
                                                const std::vector<DeviceId>& devices) {
  const auto [at, fresh] = phases_.try_emplace({algorithm, devices});
  if (fresh) at->second = collective_phases(algorithm, cluster_, devices);
  return at->second;
}

// The parts of a cut in c synchronise at once: their loads on a link add up, phase by phase.
Seconds Eq1::sync_with(SyncAlgorithm algorithm, const Groups& groups,
                       std::span<const Bytes> bytes) {
  Seconds total;
  const std::size_t steps = phases(algorithm, groups.front()).size();
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<double> seconds(cluster_.links().size());
    Seconds latency;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto& all = phases(algorithm, groups[group]);
      if (step >= all.size()) continue;
      latency = std::max(latency, all[step].latency);
      const double amount = all[step].bytes_per_byte * static_cast<double>(bytes[group].value);
      for (const LinkLoad& load : all[step].loads) {
        seconds[load.link()] += load.weight * amount / cluster_[load.link].bandwidth.value;
      }
    }
    total += latency + Seconds{*std::max_element(seconds.begin(), seconds.end())};
  }
  return total;
}

Seconds Eq1::sync_with_servers(LayerId layer, const Groups& groups,
                               std::span<const Bytes> bytes) const {
  std::vector<Movement> in, out;
  for (std::size_t part = 0; part < groups.size(); ++part) {
    const std::vector<DeviceId>& replicas = groups[part];
    const DeviceId server = replicas[server_replica(ordinals_[layer()], part, replicas.size())];
    for (DeviceId replica : replicas) {
      if (replica == server) continue;
      in.push_back({replica, server, static_cast<double>(bytes[part].value)});
      out.push_back({server, replica, static_cast<double>(bytes[part].value)});
    }
  }
  return bottleneck_time(movement_loads(cluster_, in), cluster_) +
         bottleneck_time(movement_loads(cluster_, out), cluster_);
}

Seconds Eq1::statistics_time(LayerId layer, const Config& config) {
  const Layer& l = graph_[layer];
  const Partition cut(l.output, config.degrees);
  const Statistics values = statistics(l, cut.box(0));
  if (values.forward_values == 0) return {};
  const auto groups = on_devices(shard_groups(config.degrees, values.over), config);
  if (groups.front().size() < 2) return {};
  const auto time = [&](std::int64_t count) {
    if (count == 0) return Seconds{};
    const std::vector<Bytes> bytes(groups.size(), Bytes{4 * count});
    return std::min(sync_with(SyncAlgorithm::ring, groups, bytes),
                    sync_with(SyncAlgorithm::tree, groups, bytes));
  };
  const bool backward = requires_gradient_[layer()];
  return time(values.forward_values) + (backward ? time(values.backward_values) : Seconds{});
}

Seconds Eq1::sync(LayerId layer, const Config& config) {
  const Layer& l = graph_[layer];
  const Seconds exchange = statistics_time(layer, config);
  const auto parts = replica_shards(config.degrees);
  if (l.parameters.total() == 0 || parts.front().size() < 2) return exchange;
  const Partition cut(l.output, config.degrees);
  std::vector<Bytes> bytes;
  for (const auto& shards : parts) {
    const Parameters held = shard_parameters(l, cut.box(shards.front()));
    bytes.push_back({held.total() * element_bytes(dtype_)});
  }
  const Groups groups = on_devices(parts, config);
  const auto time = [&](SyncAlgorithm algorithm) {
    return algorithm == SyncAlgorithm::ps ? sync_with_servers(layer, groups, bytes)
                                          : sync_with(algorithm, groups, bytes);
  };
  if (sync_ != SyncAlgorithm::automatic) return exchange + time(sync_);
  Seconds best{std::numeric_limits<double>::infinity()};
  for (SyncAlgorithm algorithm :
       {SyncAlgorithm::ring, SyncAlgorithm::tree, SyncAlgorithm::hierarchical, SyncAlgorithm::ps}) {
    best = std::min(best, time(algorithm));
  }
  return exchange + best;
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
