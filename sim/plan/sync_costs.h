#pragma once

// What it costs to synchronise one layer's parameters on idle links, and so which algorithm is the
// cheapest. A layer cut in c has several parameter shards; each has its replicas, and all shards
// synchronise at once, so their loads on a link add up. Lowering (for `auto`) and Eq. 1 ask here.
// Remembers what it has worked out, for all strategies on one cluster; thread-safe.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/plan/collective.h"

namespace strata {

/// What `auto` chooses from, for a layer's parameters; of these, what sums a bucket; and what
/// statistics (small, often) choose from.
std::span<const SyncAlgorithm> parameter_algorithms();
std::span<const SyncAlgorithm> collective_algorithms();
std::span<const SyncAlgorithm> statistics_algorithms();

/// One parameter shard: the devices that hold a copy, and its size.
struct ReplicaGroup {
  std::vector<DeviceId> devices;
  Bytes bytes;
};

/// Groups of devices, of equal size, that each sum a tensor of their own, all at once.
class JointSync {
 public:
  JointSync(const Cluster& cluster, std::vector<std::vector<DeviceId>> groups)
      : cluster_(cluster), groups_(std::move(groups)) {}

  std::size_t replicas() const { return groups_.front().size(); }
  /// `bytes`: of each group's tensor. `ordinal`: of the layer, see server_replica.
  Seconds time(SyncAlgorithm algorithm, std::span<const Bytes> bytes, std::uint32_t ordinal) const;
  /// Of `choices`, the one that takes the least time; on a tie the first.
  SyncAlgorithm cheapest(std::span<const SyncAlgorithm> choices, std::span<const Bytes> bytes,
                         std::uint32_t ordinal) const;

 private:
  // A group's share in the time of a link.
  struct Load {
    LinkId link;
    std::uint32_t group;
    double seconds_per_byte;
  };
  struct Step {
    Seconds latency;
    std::vector<Load> loads;      // by link, then group
    double seconds_per_byte = 0;  // where all groups have the same bytes
    void add_up();
    template <class BytesOf>
    double slowest_link(const BytesOf& bytes_of) const;
    Seconds time(std::span<const Bytes> bytes) const;
  };
  using Steps = std::vector<Step>;

  // Of all groups, and what of them depends on the bytes: which protocols are the fastest.
  struct Collectives {
    std::vector<Collective> groups;
    bool has_choice = false;
    std::map<std::vector<std::uint32_t>, Steps> steps;  // by the groups' protocols
    std::map<Bytes, const Steps*> equal;                // where all groups have the same bytes
  };

  const Steps& steps(SyncAlgorithm algorithm, std::span<const Bytes> bytes, bool equal,
                     std::uint32_t ordinal) const;
  const Steps& steps(Collectives& all, std::span<const Bytes> bytes, bool equal) const;
  Steps collective_steps(const Collectives& all, std::span<const std::uint32_t> protocols) const;
  Steps server_steps(std::uint32_t ordinal) const;

  const Cluster& cluster_;
  std::vector<std::vector<DeviceId>> groups_;
  mutable std::array<std::once_flag, kSyncNames.size()> worked_out_;
  mutable std::array<Collectives, kSyncNames.size()> collectives_;
  mutable std::mutex lock_;                            // of what grows
  mutable std::map<std::size_t, Steps> server_steps_;  // by the first group's server
};

class SyncCosts {
 public:
  explicit SyncCosts(const Cluster& cluster) : cluster_(cluster) {}

  /// Of ring, tree or hierarchical.
  const Collective& collective(SyncAlgorithm algorithm, const std::vector<DeviceId>& devices,
                               GroupWork work = GroupWork::all_reduce, const SentOnce& sent = {});

  /// ring_order() of the devices.
  const std::vector<DeviceId>& ring(const std::vector<DeviceId>& devices);

  /// Lives as long as this.
  const JointSync& joint(const std::vector<std::vector<DeviceId>>& groups);

  /// Of `choices`, the one that synchronises all of `groups` in the least time.
  SyncAlgorithm cheapest(std::span<const SyncAlgorithm> choices,
                         std::span<const ReplicaGroup> groups, std::uint32_t ordinal);
  SyncAlgorithm cheapest_for_statistics(const ReplicaGroup& group) {
    return cheapest(statistics_algorithms(), std::span(&group, 1), 0);
  }

 private:
  /// Worked out once, while others work out something else.
  template <class Value>
  struct Remembered {
    std::once_flag once;
    Value value;
  };
  template <class Key, class Value, class Make>
  const Value& remembered(std::map<Key, Remembered<Value>>& known, const Key& key,
                          const Make& make) {
    std::unique_lock guard(lock_);
    Remembered<Value>& at = known.try_emplace(key).first->second;
    guard.unlock();
    std::call_once(at.once, [&] { at.value = make(); });
    return at.value;
  }

  using Devices = std::vector<DeviceId>;
  const Cluster& cluster_;
  std::mutex lock_;
  std::map<std::tuple<SyncAlgorithm, GroupWork, Devices, SentOnce>, Remembered<Collective>>
      collectives_;
  std::map<std::vector<Devices>, Remembered<std::unique_ptr<JointSync>>> joint_;
  std::map<Devices, Remembered<Devices>> rings_;
};

/// The replica that serves the k-th parameter shard of the layer with this ordinal among those with
/// parameters: the servers rotate, so that no device serves all layers.
std::size_t server_replica(std::size_t ordinal, std::size_t shard, std::size_t replicas);

}  // namespace strata
