#pragma once

// How replicas sum a tensor: the algorithm, and what it puts on every link of the device graph.
// A collective is a short sequence of phases; each phase is one activity that loads all of its
// links at once, so a ring of a thousand devices is one entry, not a million messages.
//
//   ring          2 (r-1)/r B over every hop, 2 (r-1) latencies (reduce-scatter, all-gather)
//   tree          two binary trees, each carrying half: B/2 up and B/2 down every edge,
//                 2 ceil(log2 r) latencies (Sanders, Speck, Traeff 2009: two-tree broadcast)
//   hierarchical  ring reduce-scatter inside each host, ring all-reduce of the parts between
//                 hosts, ring all-gather inside
//   ps            gradients to one replica and parameters back (plain transfers, Section 5.1)
//
// Values and pure functions; thread-safe.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

enum class SyncAlgorithm : std::uint8_t { ps, ring, tree, hierarchical, automatic };
inline constexpr std::array<std::string_view, 5> kSyncNames = {"ps", "ring", "tree", "hierarchical",
                                                               "auto"};
constexpr std::string_view name(SyncAlgorithm sync) {
  return kSyncNames[static_cast<std::size_t>(sync)];
}

/// How replicas sum their gradients: by which algorithm, and how many bytes at once (buckets.h);
/// 0 for each layer by itself, as a parameter server always does.
struct GradientSync {
  SyncAlgorithm algorithm = SyncAlgorithm::ring;
  Bytes bucket = {};

  constexpr GradientSync(SyncAlgorithm by = SyncAlgorithm::ring, Bytes at_once = {})
      : algorithm(by), bucket(at_once) {}
  Bytes bucket_in_use() const { return algorithm == SyncAlgorithm::ps ? Bytes{} : bucket; }
  bool operator==(const GradientSync&) const = default;
};

/// What PyTorch's DistributedDataParallel takes where nothing else is said.
inline constexpr Bytes kUsualBucket{std::int64_t{25} << 20};

/// `weight` bytes cross the link for every byte that the activity counts.
struct LinkLoad {
  LinkId link;
  double weight = 1;
  bool operator==(const LinkLoad&) const = default;
};

/// One activity: `bytes_per_byte` * B bytes at one rate over all `loads` (sorted by link).
struct CollectivePhase {
  double bytes_per_byte = 0;
  Seconds latency;
  std::vector<LinkLoad> loads;
  bool operator==(const CollectivePhase&) const = default;
};

/// The phases that sum a tensor over `devices`, for a tensor of one byte; none for one device.
/// `algorithm` is ring, tree or hierarchical. Hierarchical has always three: inside the hosts,
/// between them, inside; one that has nothing to do (in one host, or with one device a host) is
/// empty.
std::vector<CollectivePhase> collective_phases(SyncAlgorithm algorithm, const Cluster& cluster,
                                               std::span<const DeviceId> devices);

/// The devices in the order a ring visits them: neighbours over the shortest routes. A cyclic
/// order found by nearest neighbour and 2-opt; deterministic.
std::vector<DeviceId> ring_order(const Cluster& cluster, std::span<const DeviceId> devices);

/// The loads of bytes moving from several devices to others at once, per byte of their total.
struct Movement {
  DeviceId from, to;
  double bytes = 0;
};
struct MovementLoads {
  double bytes = 0;
  Seconds latency;              ///< the longest route's
  std::vector<LinkLoad> loads;  ///< sorted by link; weight = share of `bytes` on the link
};
MovementLoads movement_loads(const Cluster& cluster, std::span<const Movement> movements);

}  // namespace strata
