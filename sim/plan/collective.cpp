#include "sim/plan/collective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/host_routes.h"
#include "sim/plan/ring_order.h"

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

// Whether devices of a host reach another over links of their own: the k-th ring leaves each host
// at one and enters the next at another.
bool has_rails(const Cluster& cluster, const HostRoutes& routes, const HostGroups& cycles,
               std::size_t rings) {
  std::vector<LinkId> links;
  for (std::size_t h = 0; h < cycles.size(); ++h) {
    const auto &here = cycles[h], &next = cycles[(h + 1) % cycles.size()];
    links.clear();
    for (std::size_t k = 0; k < rings; ++k) {
      routes.for_each_link(here[(k + here.size() - 1) % here.size()], next[k], [&](LinkId link) {
        if (cluster[link].bandwidth < kNoLimit) links.push_back(link);
      });
    }
    std::sort(links.begin(), links.end());
    if (std::adjacent_find(links.begin(), links.end()) != links.end()) return false;
  }
  return true;
}

// As many rings as the smallest host has devices, each with its part of the tensor. They go round
// in a host alike, but the k-th one enters it at its k-th device and leaves it at the one before.
// So each device's way out of the host, and each way into it, is one ring's.
CollectivePhase rails_phase(const HostRoutes& routes, const HostGroups& cycles, std::size_t rings,
                            double passes) {
  const double part = 1 / static_cast<double>(rings);
  LoadSum sum(routes);
  Seconds total, least{std::numeric_limits<double>::infinity()};
  std::size_t r = 0;
  for (std::size_t h = 0; h < cycles.size(); ++h) {
    const auto &here = cycles[h], &next = cycles[(h + 1) % cycles.size()];
    Seconds inside, between;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::size_t to = (i + 1) % here.size();
      sum.add_route(here[i], here[to], static_cast<double>(rings - (to < rings)) * part);
      inside = std::max(inside, routes.latency(here[i], here[to]));
    }
    for (std::size_t k = 0; k < rings; ++k) {
      const DeviceId last = here[(k + here.size() - 1) % here.size()];
      sum.add_route(last, next[k], part);
      between = std::max(between, routes.latency(last, next[k]));
    }
    total += static_cast<double>(here.size() - 1) * inside + between;
    least = std::min({least, inside, between});
    r += here.size();
  }
  CollectivePhase phase{passes * static_cast<double>(r - 1) / static_cast<double>(r), {}, {}};
  phase.latency = passes * (total - least);  // a part goes over all hops but one
  phase.loads = std::move(sum).loads();
  return phase;
}

// One ring, or where hosts have rails, several.
CollectivePhase rings_phase(const Cluster& cluster, const HostRoutes& routes,
                            std::span<const DeviceId> ring, double passes) {
  HostGroups hosts = by_host(cluster, ring);
  std::size_t rings = hosts.front().size();
  for (const auto& host : hosts) rings = std::min(rings, host.size());
  if (hosts.size() > 1 && rings > 1) {
    for (auto& host : hosts) host = ring_order(routes, host);
    if (has_rails(cluster, routes, hosts, rings)) return rails_phase(routes, hosts, rings, passes);
  }
  return ring_phase(routes, ring, passes);
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

// A ring's reduce-scatter (or, backwards, its all-gather) in all hosts at once. Only the first
// `lanes` devices of a host go on to the rings between hosts: in a larger host the others hand them
// the parts that they hold.
CollectivePhase inside_hosts(const HostRoutes& routes, const HostGroups& groups, std::size_t lanes,
                             bool backwards) {
  CollectivePhase joint;
  std::map<LinkId, double> bytes;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const CollectivePhase phase = ring_phase(routes, ring_order(routes, group), 1);
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

std::vector<CollectivePhase> collective_phases(SyncAlgorithm algorithm, const Cluster& cluster,
                                               std::span<const DeviceId> devices) {
  if (devices.size() < 2) return {};
  if (algorithm == SyncAlgorithm::hierarchical) return hierarchical_phases(cluster, devices);
  const HostRoutes routes(cluster);
  const std::vector<DeviceId> order = ring_order(routes, devices);
  if (algorithm == SyncAlgorithm::tree) return {tree_phase(routes, order)};
  return {rings_phase(cluster, routes, order, 2)};
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
