#include "sim/plan/phase_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "sim/cluster/domain_routes.h"
#include "sim/plan/mesh_rings.h"
#include "sim/plan/ring_order.h"

namespace strata {
namespace {

struct Network {
  const Cluster& cluster;
  const DomainRoutes& routes;

  bool is_inside(DeviceId from, DeviceId to) const {
    return cluster[from].fast_domain() == cluster[to].fast_domain();
  }
};

// Adds up loads by link and hands them out in the links' order.
class StepLoads {
 public:
  explicit StepLoads(const Network& network) : network_(network) {}

  void add(const StepLoad& load) { added_.push_back(load); }
  void add_route(DeviceId from, DeviceId to, double weight) {
    const bool inside = network_.is_inside(from, to);
    network_.routes.for_each_link(from, to, [&](LinkId link) {
      added_.push_back({link, inside ? weight : 0, inside ? 0 : weight});
    });
  }
  std::vector<StepLoad> loads() && {
    std::stable_sort(added_.begin(), added_.end(),
                     [](const StepLoad& a, const StepLoad& b) { return a.link < b.link; });
    std::vector<StepLoad> result;
    for (const StepLoad& added : added_) {
      if (result.empty() || result.back().link != added.link) result.push_back({added.link});
      result.back().inside += added.inside;
      result.back().between += added.between;
    }
    return result;
  }

 private:
  const Network& network_;
  std::vector<StepLoad> added_;
};

// `passes`: 2 for a sum that all get, 1 for a half of it.
PhaseShape ring_shape(const Network& network, std::span<const DeviceId> ring, double passes) {
  const auto r = static_cast<double>(ring.size());
  PhaseShape shape;
  StepLoads sum(network);
  Seconds slowest_hop;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const DeviceId next = ring[(i + 1) % ring.size()];
    sum.add_route(ring[i], next, 1);
    slowest_hop = std::max(slowest_hop, network.routes.latency(ring[i], next));
    inside += network.is_inside(ring[i], next);
  }
  shape.bytes_per_byte = passes * (r - 1) / r;
  shape.latency = passes * (r - 1) * slowest_hop;
  shape.parts = passes * (r - 1);
  // A part goes over all hops but one.
  const auto between = ring.size() - inside;
  shape.inside = passes * static_cast<double>(inside > 0 ? inside - 1 : 0);
  shape.between = passes * static_cast<double>(inside > 0 ? between : between - 1);
  shape.loads = std::move(sum).loads();
  return shape;
}

// Devices of one domain, in a ring's order: several rings where they have links to each other, each
// with the part of the tensor that its bandwidth is of theirs.
PhaseShape domain_shape(const Network& network, std::span<const DeviceId> ring, double passes) {
  PhaseShape shape = ring_shape(network, ring, passes);
  const std::vector<MeshRing> rings = mesh_rings(network.cluster, network.routes, ring);
  if (rings.size() < 2) return shape;
  StepLoads sum(network);
  shape.latency = {};
  for (const MeshRing& each : rings) {
    const PhaseShape one = ring_shape(network, each.order, passes);
    shape.latency = std::max(shape.latency, one.latency);
    for (const StepLoad& load : one.loads) sum.add({load.link, load.inside * each.part, 0});
  }
  shape.loads = std::move(sum).loads();
  return shape;
}

using DomainGroups = std::vector<std::vector<DeviceId>>;

DomainGroups by_domain(const Cluster& cluster, std::span<const DeviceId> devices) {
  std::map<std::string, std::size_t> index;
  DomainGroups groups;
  for (DeviceId device : devices) {
    const auto [at, fresh] = index.try_emplace(cluster[device].fast_domain(), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(device);
  }
  return groups;
}

std::size_t smallest(const DomainGroups& groups) {
  std::size_t size = groups.front().size();
  for (const auto& group : groups) size = std::min(size, group.size());
  return size;
}

// How many rings go over each link from one domain to the next.
struct Crossing {
  std::vector<std::pair<LinkId, double>> rings;

  void add(LinkId link) {
    for (auto& [other, count] : rings) {
      if (other == link) return void(++count);
    }
    rings.emplace_back(link, 1);
  }
  // What each of them has.
  BytesPerSecond each(const Cluster& cluster) const {
    BytesPerSecond least = kNoLimit;
    for (const auto& [link, count] : rings) {
      const BytesPerSecond limit = cluster[link].bandwidth;
      if (limit < kNoLimit) least = std::min(least, limit * (1 / count));
    }
    return least;
  }
};

// Rings of several domains: the k-th enters each domain at the k-th device of its cycle and leaves
// it at the one before. Those places that add to what all rings have together between domains.
std::vector<std::size_t> rails(const Network& network, const DomainGroups& cycles) {
  std::vector<std::size_t> entries;
  std::vector<Crossing> crossings(cycles.size());  // from each domain to the next
  double bandwidth = 0;
  for (std::size_t k = 0; k < smallest(cycles); ++k) {
    std::vector<Crossing> with = crossings;
    BytesPerSecond each = kNoLimit;
    for (std::size_t h = 0; h < cycles.size(); ++h) {
      const auto &here = cycles[h], &next = cycles[(h + 1) % cycles.size()];
      const DeviceId last = here[(k + here.size() - 1) % here.size()];
      network.routes.for_each_link(last, next[k], [&](LinkId link) { with[h].add(link); });
      each = std::min(each, with[h].each(network.cluster));
    }
    const double all = each.value * static_cast<double>(entries.size() + 1);
    if (all <= bandwidth * (1 + 1e-9)) continue;
    bandwidth = all;
    crossings = std::move(with);
    entries.push_back(k);
  }
  return entries;
}

// What rings put on the links inside a domain: each part of the tensor goes over all hops of a
// cycle but that at which its ring leaves the domain. Several cycles share it (mesh_rings.h), and
// then as if rings left at every device.
Seconds load_inside(const Network& network, std::span<const DeviceId> cycle,
                    const std::vector<std::size_t>& entries, StepLoads& sum) {
  const auto rings = static_cast<double>(entries.size()), size = static_cast<double>(cycle.size());
  Seconds slowest;
  const auto add = [&](std::span<const DeviceId> order, const auto& weight) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t to = (i + 1) % order.size();
      sum.add_route(order[i], order[to], weight(to));
      slowest = std::max(slowest, network.routes.latency(order[i], order[to]));
    }
  };
  const std::vector<MeshRing> mesh = mesh_rings(network.cluster, network.routes, cycle);
  if (mesh.size() > 1) {
    for (const MeshRing& ring : mesh) {
      add(ring.order, [&](std::size_t) { return ring.part * (size - 1) / size; });
    }
  } else {
    add(cycle, [&](std::size_t to) {
      const bool leaves = std::ranges::binary_search(entries, to);
      return (rings - (leaves ? 1 : 0)) * (1 / rings);
    });
  }
  return slowest;
}

// Rings that each have an equal part of the tensor and links of their own between domains.
PhaseShape rails_shape(const Network& network, const DomainGroups& cycles,
                       const std::vector<std::size_t>& entries, double passes) {
  const double part = 1 / static_cast<double>(entries.size());
  StepLoads sum(network);
  Seconds total, least{std::numeric_limits<double>::infinity()};
  std::size_t devices = 0;
  for (std::size_t h = 0; h < cycles.size(); ++h) {
    const auto &here = cycles[h], &next = cycles[(h + 1) % cycles.size()];
    const Seconds inside = load_inside(network, here, entries, sum);
    Seconds between;
    for (const std::size_t k : entries) {
      const DeviceId last = here[(k + here.size() - 1) % here.size()];
      sum.add_route(last, next[k], part);
      between = std::max(between, network.routes.latency(last, next[k]));
    }
    total += static_cast<double>(here.size() - 1) * inside + between;
    least = std::min({least, inside, between});
    devices += here.size();
  }
  const auto r = static_cast<double>(devices), domains = static_cast<double>(cycles.size());
  PhaseShape shape;
  shape.bytes_per_byte = passes * (r - 1) / r;
  shape.latency = passes * (total - least);  // a part goes over all hops but one
  shape.inside = passes * (r - domains - 1);
  shape.between = passes * domains;
  shape.parts = passes * (r - 1);
  shape.loads = std::move(sum).loads();
  return shape;
}

// One ring, or where domains have rails, or their devices links to each other, several.
PhaseShape rings_shape(const Network& network, std::span<const DeviceId> ring, double passes) {
  DomainGroups domains = by_domain(network.cluster, ring);
  if (domains.size() == 1) return domain_shape(network, ring, passes);
  if (smallest(domains) > 1) {
    for (auto& domain : domains) domain = ring_order(network.routes, domain);
    const std::vector<std::size_t> entries = rails(network, domains);
    if (entries.size() > 1) return rails_shape(network, domains, entries, passes);
  }
  return ring_shape(network, ring, passes);
}

// Each device sends another part to every other, at once.
PhaseShape all_to_all_shape(const Network& network, std::span<const DeviceId> devices) {
  const auto r = static_cast<double>(devices.size());
  PhaseShape shape;
  StepLoads sum(network);
  for (const DeviceId from : devices) {
    for (const DeviceId to : devices) {
      if (from == to) continue;
      sum.add_route(from, to, 1);
      shape.latency = std::max(shape.latency, network.routes.latency(from, to));
      (network.is_inside(from, to) ? shape.inside : shape.between) = 1;
    }
  }
  shape.bytes_per_byte = 1 / (r * r);
  shape.parts = r - 1;
  shape.loads = std::move(sum).loads();
  return shape;
}

// Node i of an in-order binary tree over 0..r-1 hangs under the node that clears its lowest set
// bit and sets the next; node 0 is the root.
std::size_t tree_parent(std::size_t i, std::size_t r) {
  const std::size_t low = i & (~i + 1);
  const std::size_t up = (i ^ low) | (low << 1);
  return up < r ? up : i ^ low;
}

double depth(std::size_t leaves) {
  return std::ceil(std::log2(static_cast<double>(leaves)));
}

PhaseShape tree_shape(const Network& network, std::span<const DeviceId> devices, double passes) {
  const std::size_t r = devices.size();
  StepLoads sum(network);
  Seconds slowest_hop;
  // The second tree is the first one shifted by one device, so that leaves of one are inner nodes
  // of the other and every device sends about as much as it receives.
  for (std::size_t shift = 0; shift < 2; ++shift) {
    for (std::size_t i = 1; i < r; ++i) {
      const DeviceId child = devices[(i + shift) % r];
      const DeviceId parent = devices[(tree_parent(i, r) + shift) % r];
      sum.add_route(child, parent, 0.5);
      sum.add_route(parent, child, 0.5);
      slowest_hop = std::max(slowest_hop, network.routes.latency(child, parent));
    }
  }
  const double steps = passes * depth(r);
  PhaseShape shape;
  shape.bytes_per_byte = passes / 2;
  shape.latency = steps * slowest_hop;
  shape.between = passes * depth(by_domain(network.cluster, devices).size());
  shape.inside = steps - shape.between;
  shape.loads = std::move(sum).loads();
  return shape;
}

// A ring's reduce-scatter (or, backwards, its all-gather) in all domains at once. Only the first
// `lanes` devices of a domain go on to the rings between domains: in a larger domain the others
// hand them the parts that they hold.
PhaseShape inside_domains(const Network& network, const DomainGroups& groups, std::size_t lanes,
                          bool backwards) {
  PhaseShape joint;
  StepLoads sum(network);
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const PhaseShape ring = domain_shape(network, ring_order(network.routes, group), 1);
    joint.bytes_per_byte = std::max(joint.bytes_per_byte, ring.bytes_per_byte);
    for (const StepLoad& load : ring.loads) {
      sum.add({load.link, load.inside * ring.bytes_per_byte, load.between * ring.bytes_per_byte});
    }
    Seconds latency = ring.latency;
    for (std::size_t k = lanes; k < group.size(); ++k) {
      const DeviceId from = group[k], to = group[k % lanes];
      const double part = 1 / static_cast<double>(group.size());
      backwards ? sum.add_route(to, from, part) : sum.add_route(from, to, part);
      latency = std::max(latency, ring.latency + network.routes.latency(from, to));
    }
    const double hands_on = group.size() > lanes ? 1 : 0;
    joint.latency = std::max(joint.latency, latency);
    joint.inside = std::max(joint.inside, ring.inside + hands_on);
    joint.parts = std::max(joint.parts, ring.parts);
  }
  joint.loads = std::move(sum).loads();
  for (StepLoad& load : joint.loads) {
    load.inside /= joint.bytes_per_byte;
    load.between /= joint.bytes_per_byte;
  }
  return joint;
}

// Ring k joins the k-th device of every domain and carries 1/lanes of the tensor.
PhaseShape between_domains(const Network& network, const DomainGroups& groups, std::size_t lanes,
                           double passes) {
  PhaseShape joint;
  StepLoads sum(network);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::vector<DeviceId> devices;
    for (const auto& group : groups) devices.push_back(group[lane]);
    const PhaseShape ring = ring_shape(network, ring_order(network.routes, devices), passes);
    joint.latency = std::max(joint.latency, ring.latency);
    joint.bytes_per_byte = ring.bytes_per_byte / static_cast<double>(lanes);
    joint.between = ring.between;
    joint.parts = ring.parts;
    for (const StepLoad& load : ring.loads) sum.add(load);
  }
  joint.loads = std::move(sum).loads();
  return joint;
}

// Rings inside domains are a half each; what goes on between domains is both.
std::vector<PhaseShape> hierarchical_shapes(const Network& network,
                                            std::span<const DeviceId> devices, GroupWork work) {
  const DomainGroups groups = by_domain(network.cluster, devices);
  const std::size_t lanes = smallest(groups);
  std::vector<PhaseShape> shapes;
  if (work != GroupWork::all_gather)
    shapes.push_back(inside_domains(network, groups, lanes, false));
  const double passes = work == GroupWork::all_reduce ? 2 : 1;
  shapes.push_back(groups.size() > 1 ? between_domains(network, groups, lanes, passes)
                                     : PhaseShape{});
  if (work != GroupWork::reduce_scatter) {
    shapes.push_back(inside_domains(network, groups, lanes, true));
  }
  return shapes;
}

}  // namespace

std::vector<PhaseShape> phase_shapes(SyncAlgorithm algorithm, GroupWork work,
                                     const Cluster& cluster, std::span<const DeviceId> devices) {
  const DomainRoutes routes(cluster);
  const Network network{cluster, routes};
  if (work == GroupWork::all_to_all) return {all_to_all_shape(network, devices)};
  if (algorithm == SyncAlgorithm::hierarchical) return hierarchical_shapes(network, devices, work);
  const std::vector<DeviceId> order = ring_order(routes, devices);
  const double passes = work == GroupWork::all_reduce ? 2 : 1;
  if (algorithm == SyncAlgorithm::tree) return {tree_shape(network, order, passes)};
  return {rings_shape(network, order, passes)};
}

}  // namespace strata
