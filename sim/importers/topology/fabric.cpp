#include "sim/importers/topology/fabric.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/error.h"
#include "sim/cluster/builder.h"

namespace strata {
namespace {

struct Pinned {
  std::string from, to;
  std::vector<std::string> over;
};

class Joiner {
 public:
  Joiner(const std::string& name, const Fabric& fabric) : name_(name), fabric_(fabric) {}

  Cluster join() const {
    ClusterBuilder builder(name_);
    fill(builder);
    add_routes(builder);
    return std::move(builder).build();
  }

 private:
  std::string in(const Place& place, const std::string& name) const {
    return fabric_.places.size() == 1 ? name : place.host + "/" + name;
  }

  void fill(ClusterBuilder& builder) const {
    for (const Place& place : fabric_.places) add_devices(place, builder);
    for (const std::string& name : fabric_.switches) builder.add_switch(name);
    for (const Place& place : fabric_.places) add_host(place, builder);
    for (const LinkSpec& link : fabric_.links) builder.add_link(link);
  }

  void add_devices(const Place& place, ClusterBuilder& builder) const {
    for (Device device : fabric_.topologies[place.topology].devices) {
      device.name = in(place, device.name);
      device.host = place.host;
      builder.add_device(std::move(device));
    }
  }

  void add_host(const Place& place, ClusterBuilder& builder) const {
    const HostTopology& topology = fabric_.topologies[place.topology];
    for (const std::string& name : topology.switches) builder.add_switch(in(place, name));
    for (LinkSpec link : topology.links) {
      link.from = in(place, link.from);
      link.to = in(place, link.to);
      link.name = in(place, link.name);
      builder.add_link(std::move(link));
    }
    for (const NetworkPort& port : topology.ports) {
      builder.add_duplex(
          {in(place, port.from), place.leaf, port.bandwidth, port.latency, "", "inter"});
    }
  }

  void add_routes(ClusterBuilder& builder) const {
    std::vector<std::optional<std::vector<Pinned>>> pins(fabric_.topologies.size());
    for (const Place& place : fabric_.places) {
      std::optional<std::vector<Pinned>>& own = pins[place.topology];
      if (!own) own = find_pins(place);
      for (const Pinned& pin : *own) {
        std::vector<std::string> over = pin.over;
        for (std::string& link : over) link = in(place, link);
        builder.add_route(in(place, pin.from), in(place, pin.to), std::move(over));
      }
    }
  }

  // Whoever leaves a host comes back from its switch, whatever else hangs there: so the host with
  // that switch alone shows where the network would be shorter.
  std::vector<Pinned> find_pins(const Place& place) const {
    const Cluster& alone = fabric_.topologies[place.topology].alone;
    if (fabric_.topologies[place.topology].ports.empty()) return {};
    const Cluster free = with_switch(place);
    std::vector<Pinned> pins;
    for (const Device& from : alone.devices()) {
      for (const Device& to : alone.devices()) {
        if (&from == &to) continue;
        Pinned wanted{from.name, to.name, names(alone, from.name, to.name)};
        const bool kept = names(free, from.name, to.name) == wanted.over;
        if (!kept && stays_inside(free, wanted)) pins.push_back(std::move(wanted));
      }
    }
    return pins;
  }

  Cluster with_switch(const Place& place) const {
    const Fabric only{
        {fabric_.topologies[place.topology]}, {{place.host, 0, place.leaf}}, {place.leaf}, {}};
    ClusterBuilder builder(name_);
    Joiner(name_, only).fill(builder);
    return std::move(builder).build();
  }

  /// A node's file need not join all its devices, or may do so by its network.
  static bool stays_inside(const Cluster& free, const Pinned& route) {
    return !route.over.empty() &&
           std::all_of(route.over.begin(), route.over.end(),
                       [&](const std::string& link) { return free.find_link(link).valid(); });
  }

  /// Empty where there is no route.
  static std::vector<std::string> names(const Cluster& cluster, const std::string& from,
                                        const std::string& to) try {
    std::vector<std::string> found;
    for (const LinkId id : cluster.route(cluster.find_device(from), cluster.find_device(to))) {
      found.push_back(cluster[id].name);
    }
    return found;
  } catch (const InputError&) {
    return {};
  }

  const std::string& name_;
  const Fabric& fabric_;
};

}  // namespace

Cluster join_hosts(const std::string& name, const Fabric& fabric) {
  return Joiner(name, fabric).join();
}

}  // namespace strata
