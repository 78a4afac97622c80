#include "sim/plan/collective.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace strata {
namespace {

// Sums loads by link and hands them out in the links' order.
class LoadSum {
 public:
  explicit LoadSum(const Cluster& cluster) : cluster_(cluster) {}

  void add_route(DeviceId from, DeviceId to, double weight) {
    for (LinkId link : cluster_.route(from, to)) weights_[link] += weight;
  }
  std::vector<LinkLoad> loads(double scale = 1) const {
    std::vector<LinkLoad> result;
    result.reserve(weights_.size());
    for (const auto& [link, weight] : weights_) result.push_back({link, weight * scale});
    return result;
  }

 private:
  const Cluster& cluster_;
  std::map<LinkId, double> weights_;
};

std::size_t hops(const Cluster& cluster, DeviceId a, DeviceId b) {
  return cluster.route(a, b).size();
}

// The first of those over the fewest links.
std::vector<DeviceId>::const_iterator first_nearest(const Cluster& cluster, DeviceId from,
                                                    const std::vector<DeviceId>& devices) {
  const std::size_t least = cluster.least_links(from);
  auto nearest = devices.begin();
  std::size_t fewest = hops(cluster, from, *nearest);
  for (auto at = nearest + 1; at != devices.end() && fewest > least; ++at) {
    const std::size_t links = hops(cluster, from, *at);
    if (links < fewest) nearest = at, fewest = links;
  }
  return nearest;
}

std::size_t length(const Cluster& cluster, std::span<const DeviceId> cycle) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    sum += hops(cluster, cycle[i], cycle[(i + 1) % cycle.size()]);
  }
  return sum;
}

// Reverses runs of the cycle while that shortens it. Links may be one-way, so a reversed run has
// another length, too: only the whole cycle's tells whether it became shorter.
void two_opt(const Cluster& cluster, std::vector<DeviceId>& cycle) {
  std::size_t best = length(cluster, cycle);
  for (bool improved = true; improved && best > cycle.size();) {
    improved = false;
    for (auto i = cycle.begin() + 1; i + 1 < cycle.end(); ++i) {
      for (auto j = i + 2; j <= cycle.end(); ++j) {
        std::reverse(i, j);
        const std::size_t now = length(cluster, cycle);
        if (now < best) {
          best = now;
          improved = true;
        } else {
          std::reverse(i, j);
        }
      }
    }
  }
}

constexpr std::size_t kTwoOptLimit = 64;

CollectivePhase ring_phase(const Cluster& cluster, std::span<const DeviceId> ring, double passes) {
  const auto r = static_cast<double>(ring.size());
  CollectivePhase phase{passes * (r - 1) / r, {}, {}};
  LoadSum sum(cluster);
  Seconds slowest_hop;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const DeviceId next = ring[(i + 1) % ring.size()];
    sum.add_route(ring[i], next, 1);
    slowest_hop = std::max(slowest_hop, cluster.latency(ring[i], next));
  }
  phase.latency = passes * (r - 1) * slowest_hop;
  phase.loads = sum.loads();
  return phase;
}

// Node i of an in-order binary tree over 0..r-1 hangs under the node that clears its lowest set
// bit and sets the next; node 0 is the root.
std::size_t tree_parent(std::size_t i, std::size_t r) {
  const std::size_t low = i & (~i + 1);
  const std::size_t up = (i ^ low) | (low << 1);
  return up < r ? up : i ^ low;
}

CollectivePhase tree_phase(const Cluster& cluster, std::span<const DeviceId> devices) {
  const std::size_t r = devices.size();
  LoadSum sum(cluster);
  Seconds slowest_hop;
  // The second tree is the first one shifted by one device, so that leaves of one are inner nodes
  // of the other and every device sends about as much as it receives.
  for (std::size_t shift = 0; shift < 2; ++shift) {
    for (std::size_t i = 1; i < r; ++i) {
      const DeviceId child = devices[(i + shift) % r];
      const DeviceId parent = devices[(tree_parent(i, r) + shift) % r];
      sum.add_route(child, parent, 0.5);
      sum.add_route(parent, child, 0.5);
      slowest_hop = std::max(slowest_hop, cluster.latency(child, parent));
    }
  }
  const double depth = std::ceil(std::log2(static_cast<double>(r)));
  return {1, 2 * depth * slowest_hop, sum.loads()};
}

using HostGroups = std::vector<std::vector<DeviceId>>;

HostGroups by_host(const Cluster& cluster, std::span<const DeviceId> devices) {
  std::map<std::string, std::size_t> index;
  HostGroups groups;
  for (DeviceId device : devices) {
    const auto [at, fresh] = index.try_emplace(cluster[device].host, groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(device);
  }
  return groups;
}

// A ring's reduce-scatter (or, backwards, its all-gather) in all hosts at once. Only the first
// `lanes` devices of a host go on to the rings between hosts: in a larger host the others hand them
// the parts that they hold.
CollectivePhase inside_hosts(const Cluster& cluster, const HostGroups& groups, std::size_t lanes,
                             bool backwards) {
  CollectivePhase joint;
  std::map<LinkId, double> bytes;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const CollectivePhase phase = ring_phase(cluster, ring_order(cluster, group), 1);
    joint.bytes_per_byte = std::max(joint.bytes_per_byte, phase.bytes_per_byte);
    for (const LinkLoad& load : phase.loads) bytes[load.link] += load.weight * phase.bytes_per_byte;
    Seconds latency = phase.latency;
    for (std::size_t k = lanes; k < group.size(); ++k) {
      const DeviceId from = group[k], to = group[k % lanes];
      const auto route = backwards ? cluster.route(to, from) : cluster.route(from, to);
      for (LinkId link : route) bytes[link] += 1 / static_cast<double>(group.size());
      latency = std::max(latency, phase.latency + cluster.latency(from, to));
    }
    joint.latency = std::max(joint.latency, latency);
  }
  for (const auto& [link, b] : bytes) joint.loads.push_back({link, b / joint.bytes_per_byte});
  return joint;
}

// Ring k joins the k-th device of every host and carries 1/lanes of the tensor.
CollectivePhase between_hosts(const Cluster& cluster, const HostGroups& groups, std::size_t lanes) {
  CollectivePhase joint;
  std::map<LinkId, double> weights;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::vector<DeviceId> ring;
    for (const auto& group : groups) ring.push_back(group[lane]);
    const CollectivePhase phase = ring_phase(cluster, ring, 2);
    joint.latency = std::max(joint.latency, phase.latency);
    joint.bytes_per_byte = phase.bytes_per_byte / static_cast<double>(lanes);
    for (const LinkLoad& load : phase.loads) weights[load.link] += load.weight;
  }
  for (const auto& [link, weight] : weights) joint.loads.push_back({link, weight});
  return joint;
}

std::vector<CollectivePhase> hierarchical_phases(const Cluster& cluster,
                                                 std::span<const DeviceId> devices) {
  const HostGroups groups = by_host(cluster, devices);
  std::size_t lanes = groups.front().size();
  for (const auto& group : groups) lanes = std::min(lanes, group.size());
  CollectivePhase between;
  if (groups.size() > 1) between = between_hosts(cluster, groups, lanes);
  return {inside_hosts(cluster, groups, lanes, false), std::move(between),
          inside_hosts(cluster, groups, lanes, true)};
}

double seconds_per_byte(std::span<const LinkLoad> loads, const Cluster& cluster) {
  double slowest = 0;
  for (const LinkLoad& load : loads) {
    slowest = std::max(slowest, load.weight / cluster[load.link].bandwidth.value);
  }
  return slowest;
}

}  // namespace

std::optional<SyncAlgorithm> parse_sync(std::string_view text) {
  for (std::size_t i = 0; i < kSyncNames.size(); ++i) {
    if (kSyncNames[i] == text) return static_cast<SyncAlgorithm>(i);
  }
  return std::nullopt;
}

std::vector<DeviceId> ring_order(const Cluster& cluster, std::span<const DeviceId> devices) {
  std::vector<DeviceId> left(devices.begin(), devices.end());
  std::vector<DeviceId> cycle;
  cycle.reserve(left.size());
  cycle.push_back(left.front());
  left.erase(left.begin());
  while (!left.empty()) {
    const auto nearest = first_nearest(cluster, cycle.back(), left);
    cycle.push_back(*nearest);
    left.erase(nearest);
  }
  if (cycle.size() <= kTwoOptLimit) two_opt(cluster, cycle);
  return cycle;
}

std::vector<CollectivePhase> collective_phases(SyncAlgorithm algorithm, const Cluster& cluster,
                                               std::span<const DeviceId> devices) {
  if (devices.size() < 2) return {};
  if (algorithm == SyncAlgorithm::hierarchical) return hierarchical_phases(cluster, devices);
  const std::vector<DeviceId> order = ring_order(cluster, devices);
  if (algorithm == SyncAlgorithm::tree) return {tree_phase(cluster, order)};
  return {ring_phase(cluster, order, 2)};
}

Seconds isolated_time(std::span<const CollectivePhase> phases, const Cluster& cluster,
                      Bytes bytes) {
  Seconds total;
  for (const CollectivePhase& phase : phases) {
    const double amount = phase.bytes_per_byte * static_cast<double>(bytes.value);
    total += phase.latency + Seconds{amount * seconds_per_byte(phase.loads, cluster)};
  }
  return total;
}

MovementLoads movement_loads(const Cluster& cluster, std::span<const Movement> movements) {
  MovementLoads result;
  LoadSum sum(cluster);
  for (const Movement& movement : movements) {
    sum.add_route(movement.from, movement.to, movement.bytes);
    result.bytes += movement.bytes;
    result.latency = std::max(result.latency, cluster.latency(movement.from, movement.to));
  }
  if (result.bytes > 0) result.loads = sum.loads(1 / result.bytes);
  return result;
}

Seconds bottleneck_time(const MovementLoads& loads, const Cluster& cluster) {
  return loads.latency + Seconds{loads.bytes * seconds_per_byte(loads.loads, cluster)};
}

}  // namespace strata
