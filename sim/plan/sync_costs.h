#pragma once

// What it costs to synchronise one layer's parameters on idle links, and so which algorithm is the
// cheapest. A layer cut in c has several parameter shards; each has its replicas, and all shards
// synchronise at once, so their loads on a link add up. Lowering (for `auto`) and Eq. 1 ask here.
// Remembers the phases of every group of devices it has met: not thread-safe.

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/plan/collective.h"

namespace strata {

/// One parameter shard: the devices that hold a copy, and its size.
struct ReplicaGroup {
  std::vector<DeviceId> devices;
  Bytes bytes;
};

class SyncCosts {
 public:
  explicit SyncCosts(const Cluster& cluster) : cluster_(cluster) {}

  /// Of ring, tree or hierarchical, for a tensor of one byte.
  const std::vector<CollectivePhase>& phases(SyncAlgorithm algorithm,
                                             const std::vector<DeviceId>& devices);

  /// The time to synchronise all of `groups` at once. `ordinal`: of the layer, see server_replica.
  Seconds time(SyncAlgorithm algorithm, std::span<const ReplicaGroup> groups,
               std::uint32_t ordinal);

  /// Of `choices`, the one that takes the least time; on a tie the first.
  SyncAlgorithm cheapest(std::span<const SyncAlgorithm> choices,
                         std::span<const ReplicaGroup> groups, std::uint32_t ordinal);

 private:
  Seconds time_of_collective(SyncAlgorithm algorithm, std::span<const ReplicaGroup> groups);
  Seconds time_of_servers(std::span<const ReplicaGroup> groups, std::uint32_t ordinal) const;

  const Cluster& cluster_;
  std::map<std::pair<SyncAlgorithm, std::vector<DeviceId>>, std::vector<CollectivePhase>> phases_;
};

/// What `auto` chooses from, for parameters; and what statistics (small, often) choose from.
std::span<const SyncAlgorithm> parameter_algorithms();
std::span<const SyncAlgorithm> statistics_algorithms();

/// The replica that serves the k-th parameter shard of the layer with this ordinal among those with
/// parameters: the servers rotate, so that no device serves all layers.
std::size_t server_replica(std::size_t ordinal, std::size_t shard, std::size_t replicas);

}  // namespace strata
