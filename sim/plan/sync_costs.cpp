#include "sim/plan/sync_costs.h"

#include <algorithm>
#include <array>
#include <limits>

namespace strata {

std::span<const SyncAlgorithm> parameter_algorithms() {
  static constexpr std::array kAlgorithms = {SyncAlgorithm::ring, SyncAlgorithm::tree,
                                             SyncAlgorithm::hierarchical, SyncAlgorithm::ps};
  return kAlgorithms;
}

std::span<const SyncAlgorithm> statistics_algorithms() {
  static constexpr std::array kAlgorithms = {SyncAlgorithm::ring, SyncAlgorithm::tree};
  return kAlgorithms;
}

std::size_t server_replica(std::size_t ordinal, std::size_t shard, std::size_t replicas) {
  return (ordinal + shard) % replicas;
}

const std::vector<CollectivePhase>& SyncCosts::phases(SyncAlgorithm algorithm,
                                                      const std::vector<DeviceId>& devices) {
  const auto [at, fresh] = phases_.try_emplace({algorithm, devices});
  if (fresh) at->second = collective_phases(algorithm, cluster_, devices);
  return at->second;
}

Seconds SyncCosts::time(SyncAlgorithm algorithm, std::span<const ReplicaGroup> groups,
                        std::uint32_t ordinal) {
  return algorithm == SyncAlgorithm::ps ? time_of_servers(groups, ordinal)
                                        : time_of_collective(algorithm, groups);
}

SyncAlgorithm SyncCosts::cheapest(std::span<const SyncAlgorithm> choices,
                                  std::span<const ReplicaGroup> groups, std::uint32_t ordinal) {
  SyncAlgorithm best = choices.front();
  Seconds least{std::numeric_limits<double>::infinity()};
  for (SyncAlgorithm choice : choices) {
    const Seconds taken = time(choice, groups, ordinal);
    if (taken < least) best = choice, least = taken;
  }
  return best;
}

// Phase by phase: every algorithm gives all groups phases in the same roles.
Seconds SyncCosts::time_of_collective(SyncAlgorithm algorithm,
                                      std::span<const ReplicaGroup> groups) {
  Seconds total;
  std::size_t steps = 0;
  for (const ReplicaGroup& group : groups) {
    steps = std::max(steps, phases(algorithm, group.devices).size());
  }
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<double> seconds(cluster_.links().size());
    Seconds latency;
    for (const ReplicaGroup& group : groups) {
      const auto& all = phases(algorithm, group.devices);
      if (step >= all.size()) continue;
      latency = std::max(latency, all[step].latency);
      const double amount = all[step].bytes_per_byte * static_cast<double>(group.bytes.value);
      for (const LinkLoad& load : all[step].loads) {
        seconds[load.link()] += load.weight * amount / cluster_[load.link].bandwidth.value;
      }
    }
    total += latency + Seconds{*std::max_element(seconds.begin(), seconds.end())};
  }
  return total;
}

Seconds SyncCosts::time_of_servers(std::span<const ReplicaGroup> groups,
                                   std::uint32_t ordinal) const {
  std::vector<Movement> in, out;
  for (std::size_t shard = 0; shard < groups.size(); ++shard) {
    const std::vector<DeviceId>& replicas = groups[shard].devices;
    const DeviceId server = replicas[server_replica(ordinal, shard, replicas.size())];
    const auto bytes = static_cast<double>(groups[shard].bytes.value);
    for (DeviceId replica : replicas) {
      if (replica == server) continue;
      in.push_back({replica, server, bytes});
      out.push_back({server, replica, bytes});
    }
  }
  return bottleneck_time(movement_loads(cluster_, in), cluster_) +
         bottleneck_time(movement_loads(cluster_, out), cluster_);
}

}  // namespace strata
