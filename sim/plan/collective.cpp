#include "sim/plan/collective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/host_routes.h"

namespace strata {
namespace {

// Sums loads by link and hands them out in the links' order.
class LoadSum {
 public:
  explicit LoadSum(const HostRoutes& routes) : routes_(routes) {}

  void add_route(DeviceId from, DeviceId to, double weight) {
    routes_.for_each_link(from, to, [&](LinkId link) { added_.push_back({link, weight}); });
  }
  std::vector<LinkLoad> loads(double scale = 1) && {
    std::stable_sort(added_.begin(), added_.end(),
                     [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
    std::vector<LinkLoad> result;
    for (const LinkLoad& added : added_) {
      if (result.empty() || result.back().link != added.link) result.push_back({added.link, 0});
      result.back().weight += added.weight;
    }
    for (LinkLoad& load : result) load.weight *= scale;
    return result;
  }

 private:
  const HostRoutes& routes_;
  std::vector<LinkLoad> added_;
};

/// Devices that a ring has still to visit.
class Unvisited {
 public:
  Unvisited(const HostRoutes& routes, std::span<const DeviceId> devices)
      : routes_(routes), devices_(devices), visited_(devices.size()) {
    const HostSymmetry* hosts = routes.hosts();
    for (std::uint32_t k = 0; k < devices.size(); ++k) {
      const DeviceId device = devices[k];
      const std::uint32_t host = hosts == nullptr ? 0 : hosts->host(device);
      in_host_[host].push_back(k);
      if (hosts != nullptr) alike_[{hosts->type(host), hosts->number(device)}].left.push_back(k);
    }
  }

  /// The first of those over the fewest links; it is then visited.
  DeviceId take_nearest(DeviceId from) {
    const HostSymmetry* hosts = routes_.hosts();
    const std::uint32_t host = hosts == nullptr ? 0 : hosts->host(from);
    Nearest nearest;
    for (const std::uint32_t k : in_host_[host]) {
      if (!visited_[k]) consider(from, k, nearest);
    }
    for (auto& [kind, alike] : alike_) {
      if (const auto k = first_elsewhere(alike, host)) consider(from, *k, nearest);
    }
    visited_[nearest.device] = true;
    return devices_[nearest.device];
  }

 private:
  struct Nearest {
    std::size_t links = std::numeric_limits<std::size_t>::max();
    std::uint32_t device = 0;
  };
  /// Devices of one number in hosts of one type are equally far from a device of another host.
  struct Alike {
    std::vector<std::uint32_t> left;
    std::size_t first = 0;  // those before it are visited
  };

  void consider(DeviceId from, std::uint32_t k, Nearest& nearest) const {
    const std::size_t links = routes_.links(from, devices_[k]);
    if (std::pair(links, k) < std::pair(nearest.links, nearest.device)) nearest = {links, k};
  }

  std::optional<std::uint32_t> first_elsewhere(Alike& alike, std::uint32_t host) const {
    while (alike.first < alike.left.size() && visited_[alike.left[alike.first]]) ++alike.first;
    for (std::size_t i = alike.first; i < alike.left.size(); ++i) {
      const std::uint32_t k = alike.left[i];
      if (!visited_[k] && routes_.hosts()->host(devices_[k]) != host) return k;
    }
    return std::nullopt;
  }

  const HostRoutes& routes_;
  std::span<const DeviceId> devices_;
  std::vector<bool> visited_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> in_host_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Alike> alike_;
};

std::size_t length(const HostRoutes& routes, std::span<const DeviceId> cycle) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    sum += routes.links(cycle[i], cycle[(i + 1) % cycle.size()]);
  }
  return sum;
}

// Reverses runs of the cycle while that shortens it. Links may be one-way, so a reversed run has
// another length, too: only the whole cycle's tells whether it became shorter.
void two_opt(const HostRoutes& routes, std::vector<DeviceId>& cycle) {
  std::size_t best = length(routes, cycle);
  for (bool improved = true; improved && best > cycle.size();) {
    improved = false;
    for (auto i = cycle.begin() + 1; i + 1 < cycle.end(); ++i) {
      for (auto j = i + 2; j <= cycle.end(); ++j) {
        std::reverse(i, j);
        const std::size_t now = length(routes, cycle);
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

std::vector<DeviceId> ring_of(const HostRoutes& routes, std::span<const DeviceId> devices) {
  Unvisited unvisited(routes, devices.subspan(1));
  std::vector<DeviceId> cycle = {devices.front()};
  cycle.reserve(devices.size());
  while (cycle.size() < devices.size()) cycle.push_back(unvisited.take_nearest(cycle.back()));
  if (cycle.size() <= kTwoOptLimit) two_opt(routes, cycle);
  return cycle;
}

CollectivePhase ring_phase(const HostRoutes& routes, std::span<const DeviceId> ring,
                           double passes) {
  const auto r = static_cast<double>(ring.size());
  CollectivePhase phase{passes * (r - 1) / r, {}, {}};
  LoadSum sum(routes);
  Seconds slowest_hop;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const DeviceId next = ring[(i + 1) % ring.size()];
    sum.add_route(ring[i], next, 1);
    slowest_hop = std::max(slowest_hop, routes.latency(ring[i], next));
  }
  phase.latency = passes * (r - 1) * slowest_hop;
  phase.loads = std::move(sum).loads();
  return phase;
}

// Node i of an in-order binary tree over 0..r-1 hangs under the node that clears its lowest set
// bit and sets the next; node 0 is the root.
std::size_t tree_parent(std::size_t i, std::size_t r) {
  const std::size_t low = i & (~i + 1);
  const std::size_t up = (i ^ low) | (low << 1);
  return up < r ? up : i ^ low;
}

CollectivePhase tree_phase(const HostRoutes& routes, std::span<const DeviceId> devices) {
  const std::size_t r = devices.size();
  LoadSum sum(routes);
  Seconds slowest_hop;
  // The second tree is the first one shifted by one device, so that leaves of one are inner nodes
  // of the other and every device sends about as much as it receives.
  for (std::size_t shift = 0; shift < 2; ++shift) {
    for (std::size_t i = 1; i < r; ++i) {
      const DeviceId child = devices[(i + shift) % r];
      const DeviceId parent = devices[(tree_parent(i, r) + shift) % r];
      sum.add_route(child, parent, 0.5);
      sum.add_route(parent, child, 0.5);
      slowest_hop = std::max(slowest_hop, routes.latency(child, parent));
    }
  }
  const double depth = std::ceil(std::log2(static_cast<double>(r)));
  return {1, 2 * depth * slowest_hop, std::move(sum).loads()};
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
CollectivePhase inside_hosts(const HostRoutes& routes, const HostGroups& groups, std::size_t lanes,
                             bool backwards) {
  CollectivePhase joint;
  std::map<LinkId, double> bytes;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const CollectivePhase phase = ring_phase(routes, ring_of(routes, group), 1);
    joint.bytes_per_byte = std::max(joint.bytes_per_byte, phase.bytes_per_byte);
    for (const LinkLoad& load : phase.loads) bytes[load.link] += load.weight * phase.bytes_per_byte;
    Seconds latency = phase.latency;
    for (std::size_t k = lanes; k < group.size(); ++k) {
      const DeviceId from = group[k], to = group[k % lanes];
      routes.for_each_link(backwards ? to : from, backwards ? from : to, [&](LinkId link) {
        bytes[link] += 1 / static_cast<double>(group.size());
      });
      latency = std::max(latency, phase.latency + routes.latency(from, to));
    }
    joint.latency = std::max(joint.latency, latency);
  }
  for (const auto& [link, b] : bytes) joint.loads.push_back({link, b / joint.bytes_per_byte});
  return joint;
}

// Ring k joins the k-th device of every host and carries 1/lanes of the tensor.
CollectivePhase between_hosts(const HostRoutes& routes, const HostGroups& groups,
                              std::size_t lanes) {
  CollectivePhase joint;
  std::map<LinkId, double> weights;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::vector<DeviceId> ring;
    for (const auto& group : groups) ring.push_back(group[lane]);
    const CollectivePhase phase = ring_phase(routes, ring, 2);
    joint.latency = std::max(joint.latency, phase.latency);
    joint.bytes_per_byte = phase.bytes_per_byte / static_cast<double>(lanes);
    for (const LinkLoad& load : phase.loads) weights[load.link] += load.weight;
  }
  for (const auto& [link, weight] : weights) joint.loads.push_back({link, weight});
  return joint;
}

std::vector<CollectivePhase> hierarchical_phases(const Cluster& cluster,
                                                 std::span<const DeviceId> devices) {
  const HostRoutes routes(cluster);
  const HostGroups groups = by_host(cluster, devices);
  std::size_t lanes = groups.front().size();
  for (const auto& group : groups) lanes = std::min(lanes, group.size());
  CollectivePhase between;
  if (groups.size() > 1) between = between_hosts(routes, groups, lanes);
  return {inside_hosts(routes, groups, lanes, false), std::move(between),
          inside_hosts(routes, groups, lanes, true)};
}

}  // namespace

void check(const GradientSync& sync) {
  if (!sync.shares() || sync.algorithm != SyncAlgorithm::ps) return;
  throw InputError(fmt::format(
      "`zero` {} shares the optimizer's state among replicas, of which `sync` ps leaves "
      "all to one; allowed: `sync` ring, tree, hierarchical or auto",
      name(sync.zero)));
}

std::vector<DeviceId> ring_order(const Cluster& cluster, std::span<const DeviceId> devices) {
  return ring_of(HostRoutes(cluster), devices);
}

std::vector<CollectivePhase> collective_phases(SyncAlgorithm algorithm, const Cluster& cluster,
                                               std::span<const DeviceId> devices) {
  if (devices.size() < 2) return {};
  if (algorithm == SyncAlgorithm::hierarchical) return hierarchical_phases(cluster, devices);
  const HostRoutes routes(cluster);
  const std::vector<DeviceId> order = ring_of(routes, devices);
  if (algorithm == SyncAlgorithm::tree) return {tree_phase(routes, order)};
  return {ring_phase(routes, order, 2)};
}

// Rings inside hosts are a half each; what goes on between hosts is both.
std::vector<CollectivePhase> half_of(SyncAlgorithm algorithm, std::vector<CollectivePhase> phases,
                                     SumHalf half) {
  const auto halve = [](CollectivePhase& phase) {
    phase.bytes_per_byte /= 2;
    phase.latency = phase.latency / 2;
  };
  if (algorithm != SyncAlgorithm::hierarchical) {
    std::for_each(phases.begin(), phases.end(), halve);
    return phases;
  }
  if (phases.empty()) return phases;
  halve(phases[1]);
  phases.erase(half == SumHalf::scatter ? phases.end() - 1 : phases.begin());
  return phases;
}

MovementLoads movement_loads(const Cluster& cluster, std::span<const Movement> movements) {
  MovementLoads result;
  const HostRoutes routes(cluster);
  LoadSum sum(routes);
  for (const Movement& movement : movements) {
    sum.add_route(movement.from, movement.to, movement.bytes);
    result.bytes += movement.bytes;
    result.latency = std::max(result.latency, routes.latency(movement.from, movement.to));
  }
  if (result.bytes > 0) result.loads = std::move(sum).loads(1 / result.bytes);
  return result;
}

}  // namespace strata
