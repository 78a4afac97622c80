#include "sim/importers/topology/host_topology.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/topology/nominal.h"

namespace strata {
namespace {

constexpr std::string_view kCard = "nic";

Seconds half_way(const std::optional<Seconds>& latency) {
  return {latency.value_or(kPcieLatency + kNetworkLatency).value / 2};
}

/// Whether the node's own file says how it leaves.
bool has_network(const Cluster& node) {
  const auto names = node.switches();
  return std::find(names.begin(), names.end(), kNetwork) != names.end();
}

LinkSpec spec_of(const Cluster& node, const Link& link) {
  return {node.vertex_name(link.from),
          node.vertex_name(link.to),
          link.bandwidth,
          link.latency,
          link.name,
          link.kind};
}

void add_links(const Cluster& node, const std::optional<BytesPerSecond>& bandwidth,
               const std::optional<Seconds>& latency, HostTopology& topology) {
  for (const Link& link : node.links()) {
    const LinkSpec spec = spec_of(node, link);
    if (spec.from == kNetwork) continue;
    if (spec.to != kNetwork) {
      topology.links.push_back(spec);
      continue;
    }
    topology.ports.push_back({spec.from, bandwidth.value_or(spec.bandwidth),
                              latency ? half_way(latency) : spec.latency});
  }
}

}  // namespace

void complete(HostTopology& topology, const std::string& file) {
  ClusterBuilder builder(file);
  builder.at({file, 0});
  for (const Device& device : topology.devices) builder.add_device(device);
  for (const std::string& name : topology.switches) builder.add_switch(name);
  for (const LinkSpec& link : topology.links) builder.add_link(link);
  topology.alone = std::move(builder).build();
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    topology.links[i].name = topology.alone.links()[i].name;
  }
}

// Not part of `alone`: nothing within the host goes by it.
void add_card(BytesPerSecond bandwidth, const std::optional<Seconds>& latency,
              HostTopology& topology) {
  const std::string card(kCard);
  topology.switches.push_back(card);
  for (const Device& device : topology.devices) {
    const std::string& name = device.name;
    topology.links.push_back({name, card, bandwidth, {}, name + ">" + card, "inter"});
    topology.links.push_back({card, name, bandwidth, {}, card + ">" + name, "inter"});
  }
  topology.ports.push_back({card, bandwidth, half_way(latency)});
}

HostTopology topology_of(const Cluster& node, const std::optional<BytesPerSecond>& bandwidth,
                         const std::optional<Seconds>& latency) {
  if (const std::size_t hosts = node.host_count(); hosts > 1) {
    throw InputError(
        fmt::format("{}: a cluster of {} hosts; allowed: of one, since `node` describes each host",
                    node.name(), hosts));
  }
  if (node.device_count() > kHostDeviceLimit) {
    throw InputError(fmt::format("{}: a host of {} devices; allowed: {}", node.name(),
                                 node.device_count(), kHostDeviceLimit));
  }
  HostTopology topology;
  topology.alone = node;
  topology.devices.assign(node.devices().begin(), node.devices().end());
  for (const std::string& name : node.switches()) {
    if (name != kNetwork) topology.switches.push_back(name);
  }
  add_links(node, bandwidth, latency, topology);
  if (has_network(node)) return topology;
  if (!bandwidth) {
    throw InputError(
        fmt::format("{}: it has no switch '{}', so `bandwidth` must say how fast a host is joined "
                    "to its switch",
                    node.name(), kNetwork));
  }
  add_card(*bandwidth, latency, topology);
  return topology;
}

}  // namespace strata
