#include "sim/importers/topology/inside.h"

#include <algorithm>
#include <set>
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

// Devices that name no host stand in any.
std::size_t count_hosts(const Cluster& node) {
  std::set<std::string_view> hosts;
  for (const Device& device : node.devices()) {
    if (!device.host.empty()) hosts.insert(device.host);
  }
  return hosts.size();
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
               const std::optional<Seconds>& latency, Inside& inside) {
  for (const Link& link : node.links()) {
    const LinkSpec spec = spec_of(node, link);
    if (spec.from == kNetwork) continue;
    if (spec.to != kNetwork) {
      inside.links.push_back(spec);
      continue;
    }
    inside.ports.push_back({spec.from, bandwidth.value_or(spec.bandwidth),
                            latency ? half_way(latency) : spec.latency});
  }
}

}  // namespace

void settle(Inside& inside, const std::string& file) {
  ClusterBuilder builder(file);
  builder.at({file, 0});
  for (const Device& device : inside.devices) builder.add_device(device);
  for (const std::string& name : inside.switches) builder.add_switch(name);
  for (const LinkSpec& link : inside.links) builder.add_link(link);
  inside.alone = std::move(builder).build();
  for (std::size_t i = 0; i < inside.links.size(); ++i) {
    inside.links[i].name = inside.alone.links()[i].name;
  }
}

// Not part of `alone`: nothing within the host goes by it.
void add_card(BytesPerSecond bandwidth, const std::optional<Seconds>& latency, Inside& inside) {
  const std::string card(kCard);
  inside.switches.push_back(card);
  for (const Device& device : inside.devices) {
    const std::string& name = device.name;
    inside.links.push_back({name, card, bandwidth, {}, name + ">" + card, "inter"});
    inside.links.push_back({card, name, bandwidth, {}, card + ">" + name, "inter"});
  }
  inside.ports.push_back({card, bandwidth, half_way(latency)});
}

Inside inside_of(const Cluster& node, const std::optional<BytesPerSecond>& bandwidth,
                 const std::optional<Seconds>& latency) {
  if (const std::size_t hosts = count_hosts(node); hosts > 1) {
    throw InputError(
        fmt::format("{}: a cluster of {} hosts; allowed: of one, as `node` says what each host is",
                    node.name(), hosts));
  }
  if (node.device_count() > kInsideLimit) {
    throw InputError(fmt::format("{}: a host of {} devices; allowed: {}", node.name(),
                                 node.device_count(), kInsideLimit));
  }
  Inside inside;
  inside.alone = node;
  inside.devices.assign(node.devices().begin(), node.devices().end());
  for (const std::string& name : node.switches()) {
    if (name != kNetwork) inside.switches.push_back(name);
  }
  add_links(node, bandwidth, latency, inside);
  if (has_network(node)) return inside;
  if (!bandwidth) {
    throw InputError(
        fmt::format("{}: it has no switch '{}', so `bandwidth` must say how fast a host is joined "
                    "to its switch",
                    node.name(), kNetwork));
  }
  add_card(*bandwidth, latency, inside);
  return inside;
}

}  // namespace strata
