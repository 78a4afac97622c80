#include "sim/plan/ring_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace strata {
namespace {

/// Devices that a ring has still to visit.
class Unvisited {
 public:
  Unvisited(const DomainRoutes& routes, std::span<const DeviceId> devices)
      : routes_(routes), devices_(devices), visited_(devices.size()) {
    const DomainSymmetry* domains = routes.domains();
    for (std::uint32_t k = 0; k < devices.size(); ++k) {
      const DeviceId device = devices[k];
      const std::uint32_t domain = domains == nullptr ? 0 : domains->domain(device);
      in_domain_[domain].push_back(k);
      if (domains != nullptr)
        alike_[{domains->type(domain), domains->number(device)}].left.push_back(k);
    }
  }

  /// The first of those over the fewest links; it is then visited.
  DeviceId take_nearest(DeviceId from) {
    const DomainSymmetry* domains = routes_.domains();
    const std::uint32_t domain = domains == nullptr ? 0 : domains->domain(from);
    Nearest nearest;
    for (const std::uint32_t k : in_domain_[domain]) {
      if (!visited_[k]) consider(from, k, nearest);
    }
    for (auto& [kind, alike] : alike_) {
      if (const auto k = first_elsewhere(alike, domain)) consider(from, *k, nearest);
    }
    visited_[nearest.device] = true;
    return devices_[nearest.device];
  }

 private:
  struct Nearest {
    std::size_t links = std::numeric_limits<std::size_t>::max();
    std::uint32_t device = 0;
  };
  /// Devices of one number in domains of one type are equally far from a device of another domain.
  struct Alike {
    std::vector<std::uint32_t> left;
    std::size_t first = 0;  // those before it are visited
  };

  void consider(DeviceId from, std::uint32_t k, Nearest& nearest) const {
    const std::size_t links = routes_.links(from, devices_[k]);
    if (std::pair(links, k) < std::pair(nearest.links, nearest.device)) nearest = {links, k};
  }

  std::optional<std::uint32_t> first_elsewhere(Alike& alike, std::uint32_t domain) const {
    while (alike.first < alike.left.size() && visited_[alike.left[alike.first]]) ++alike.first;
    for (std::size_t i = alike.first; i < alike.left.size(); ++i) {
      const std::uint32_t k = alike.left[i];
      if (!visited_[k] && routes_.domains()->domain(devices_[k]) != domain) return k;
    }
    return std::nullopt;
  }

  const DomainRoutes& routes_;
  std::span<const DeviceId> devices_;
  std::vector<bool> visited_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> in_domain_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Alike> alike_;
};

std::size_t length(const DomainRoutes& routes, std::span<const DeviceId> cycle) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    sum += routes.links(cycle[i], cycle[(i + 1) % cycle.size()]);
  }
  return sum;
}

// Reverses runs of the cycle while that shortens it. Links may be one-way, so a reversed run has
// another length, too: only the whole cycle's tells whether it became shorter.
void two_opt(const DomainRoutes& routes, std::vector<DeviceId>& cycle) {
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

}  // namespace

std::vector<DeviceId> ring_order(const DomainRoutes& routes, std::span<const DeviceId> devices) {
  Unvisited unvisited(routes, devices.subspan(1));
  std::vector<DeviceId> cycle = {devices.front()};
  cycle.reserve(devices.size());
  while (cycle.size() < devices.size()) cycle.push_back(unvisited.take_nearest(cycle.back()));
  if (cycle.size() <= kTwoOptLimit) two_opt(routes, cycle);
  return cycle;
}

std::vector<DeviceId> ring_order(const Cluster& cluster, std::span<const DeviceId> devices) {
  return ring_order(DomainRoutes(cluster), devices);
}

}  // namespace strata
