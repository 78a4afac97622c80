#include "sim/cluster/what_if.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/order_statistics.h"
#include "sim/cluster/builder.h"
#include "sim/cluster/oversubscription.h"
#include "sim/text/units.h"

namespace strata {
namespace {

Cluster rebuild(const Cluster& like, std::span<const Device> devices, std::span<const Link> links,
                CommunicationLibrary library) {
  ClusterBuilder builder(like);
  for (const Device& device : devices) builder.add_device(device);
  for (const std::string& name : like.switches()) builder.add_switch(name);
  for (const Link& link : links) {
    builder.add_link({like.vertex_name(link.from), like.vertex_name(link.to), link.bandwidth,
                      link.latency, link.name, link.kind});
  }
  for (const FixedRoute& route : like.fixed_routes()) {
    std::vector<std::string> over;
    for (const LinkId link : route.links) over.push_back(like[link].name);
    builder.add_route(like[route.from].name, like[route.to].name, std::move(over));
  }
  builder.set_communication_library(std::move(library));
  return std::move(builder).build();
}
Cluster rebuild(const Cluster& like, std::span<const Device> devices, std::span<const Link> links) {
  return rebuild(like, devices, links, like.communication_library());
}

/// "\"a\", \"b\"" of what is there, each once, in order of appearance; a few of them.
template <class Things, class Name>
std::string some_names(const Things& things, Name name_of) {
  std::vector<std::string> names;
  for (const auto& thing : things) {
    const std::string& name = name_of(thing);
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (names.size() == 8) return fmt::format("{}, ...", fmt::join(names, ", "));
    names.push_back(name);
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Link*> select_links(const Cluster& cluster, std::vector<Link>& links,
                                std::string_view selector) {
  std::vector<Link*> selected;
  for (Link& link : links) {
    if (selector == "*" || link.name == selector || (!link.kind.empty() && link.kind == selector)) {
      selected.push_back(&link);
    }
  }
  if (!selected.empty()) return selected;
  throw InputError(fmt::format(
      "cluster {} has no link '{}'; allowed: *, a kind ({}), or a link's name ({})", cluster.name(),
      selector, some_names(links, [](const Link& link) { return link.kind; }),
      some_names(links, [](const Link& link) { return link.name; })));
}

// The K of "first:K" and "last:K"; nothing for other selectors and for more than there are.
std::optional<std::size_t> count_after(std::string_view selector, std::string_view begin,
                                       std::size_t most) {
  if (!selector.starts_with(begin)) return std::nullopt;
  std::size_t count = 0;
  const char* const end = selector.data() + selector.size();
  const auto [stop, error] = std::from_chars(selector.data() + begin.size(), end, count);
  if (error != std::errc{} || stop != end || count == 0 || count > most) return std::nullopt;
  return count;
}

std::vector<Device*> select_devices(const Cluster& cluster, std::vector<Device>& devices,
                                    std::string_view selector) {
  std::vector<Device*> selected;
  const auto first = count_after(selector, "first:", devices.size());
  const auto last = count_after(selector, "last:", devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Device& device = devices[i];
    const bool named =
        device.name == selector || device.kind == selector || device.host == selector;
    const bool counted = (first && i < *first) || (last && i >= devices.size() - *last);
    if (selector == "*" || counted || (named && !selector.empty())) selected.push_back(&device);
  }
  if (!selected.empty()) return selected;
  throw InputError(fmt::format(
      "cluster {} has no device '{}'; allowed: *, a kind ({}), a host ({}), a device's name "
      "({}), first:K or last:K",
      cluster.name(), selector, some_names(devices, [](const Device& d) { return d.kind; }),
      some_names(devices, [](const Device& d) { return d.host; }),
      some_names(devices, [](const Device& d) { return d.name; })));
}

template <class Change>
Cluster with_devices(const Cluster& cluster, std::string_view selector, const Change& change) {
  std::vector<Device> devices(cluster.devices().begin(), cluster.devices().end());
  for (Device* device : select_devices(cluster, devices, selector)) change(*device);
  return rebuild(cluster, devices, cluster.links());
}

template <class Quantity>
Quantity changed(Quantity old, const std::variant<Quantity, Multiple>& change) {
  if (const Multiple* factor = std::get_if<Multiple>(&change)) return old * factor->value;
  return std::get<Quantity>(change);
}

template <class Quantity, class Parse>
std::variant<Quantity, Multiple> parse_change(std::string_view text, Parse parse) {
  if (is_factor(text)) return Multiple{parse_factor(text)};
  return parse(text);
}

double parse_speed(std::string_view text) {
  try {
    const double speed = parse_number(text);
    if (speed > 0) return speed;
  } catch (const InputError&) {  // said below, with what is allowed
  }
  throw InputError(
      fmt::format("'{}' is not a speed; allowed: a positive number, 1 for the profile's own, or a "
                  "factor, as in "
                  "\"0.5x\"",
                  text));
}

}  // namespace

Cluster with_link_bandwidth(const Cluster& cluster, std::string_view selector,
                            std::variant<BytesPerSecond, Multiple> change) {
  std::vector<Link> links(cluster.links().begin(), cluster.links().end());
  const std::vector<Link*> selected = select_links(cluster, links, selector);
  const bool some = std::any_of(selected.begin(), selected.end(),
                                [](const Link* link) { return link->bandwidth < kNoLimit; });
  for (Link* link : selected) {
    if (link->bandwidth < kNoLimit || !some) link->bandwidth = changed(link->bandwidth, change);
  }
  return rebuild(cluster, cluster.devices(), links);
}

Cluster with_link_latency(const Cluster& cluster, std::string_view selector,
                          std::variant<Seconds, Multiple> change) {
  std::vector<Link> links(cluster.links().begin(), cluster.links().end());
  const std::vector<Link*> selected = select_links(cluster, links, selector);
  const bool some = std::any_of(selected.begin(), selected.end(),
                                [](const Link* link) { return link->latency.value > 0; });
  for (Link* link : selected) {
    if (link->latency.value > 0 || !some) link->latency = changed(link->latency, change);
  }
  return rebuild(cluster, cluster.devices(), links);
}

Cluster with_device_speed(const Cluster& cluster, std::string_view selector,
                          std::variant<double, Multiple> change) {
  return with_devices(cluster, selector,
                      [&](Device& device) { device.speed = changed(device.speed, change); });
}

Cluster with_device_memory(const Cluster& cluster, std::string_view selector, Bytes value) {
  return with_devices(cluster, selector, [value](Device& device) { device.memory = value; });
}

Cluster with_device_memory_reserve(const Cluster& cluster, std::string_view selector, Bytes value) {
  return with_devices(cluster, selector,
                      [value](Device& device) { device.memory_reserve = value; });
}

Cluster with_network_share(const Cluster& cluster, std::variant<double, Multiple> change) {
  CommunicationLibrary library = cluster.communication_library();
  if (library.protocols.empty()) library.protocols.push_back({"network", {}, {}, {}});
  for (TransferProtocol& protocol : library.protocols) {
    protocol.network_share = changed(protocol.network_share, change);
    if (protocol.network_share <= 0 || protocol.network_share > 1) {
      throw InputError(
          fmt::format("{} is not a share of the bandwidth between hosts; allowed: a "
                      "number above 0, at most 1, or a factor that leads to one",
                      protocol.network_share));
    }
  }
  return rebuild(cluster, cluster.devices(), cluster.links(), std::move(library));
}

Cluster with_oversubscription(const Cluster& cluster, double ratio) {
  std::vector<Link> links(cluster.links().begin(), cluster.links().end());
  oversubscribe(cluster, ratio, links);
  return rebuild(cluster, cluster.devices(), links);
}

double slowest_host(const Cluster& cluster, double share) {
  std::set<std::string_view> hosts;
  for (const Device& device : cluster.devices()) hosts.insert(device.host);
  return 1 + share * expected_largest_normal(hosts.size());
}

Cluster with_host_jitter(const Cluster& cluster, double share) {
  return with_device_speed(cluster, "*", Multiple{1 / slowest_host(cluster, share)});
}

std::span<const ClusterWhatIf> cluster_what_ifs() {
  using Text = std::string_view;
  static constexpr std::array<ClusterWhatIf, 7> kRows = {{
      {"link.SELECTOR.bandwidth", WhatIfForm::bandwidth,
       [](const Cluster& cluster, Text selector, Text value) {
         return with_link_bandwidth(cluster, selector,
                                    parse_change<BytesPerSecond>(value, parse_bandwidth));
       }},
      {"link.SELECTOR.latency", WhatIfForm::latency,
       [](const Cluster& cluster, Text selector, Text value) {
         return with_link_latency(cluster, selector, parse_change<Seconds>(value, parse_seconds));
       }},
      {"device.SELECTOR.speed", WhatIfForm::speed,
       [](const Cluster& cluster, Text selector, Text value) {
         return with_device_speed(cluster, selector, parse_change<double>(value, parse_speed));
       }},
      {"device.SELECTOR.memory", WhatIfForm::size,
       [](const Cluster& cluster, Text selector, Text value) {
         return with_device_memory(cluster, selector, parse_bytes(value));
       }},
      {"device.SELECTOR.memory_reserve", WhatIfForm::size,
       [](const Cluster& cluster, Text selector, Text value) {
         return with_device_memory_reserve(cluster, selector, parse_bytes(value));
       }},
      {"communication.network_share", WhatIfForm::speed,
       [](const Cluster& cluster, Text, Text value) {
         return with_network_share(cluster, parse_change<double>(value, parse_speed));
       }},
      {"network.oversubscription", WhatIfForm::ratio,
       [](const Cluster& cluster, Text, Text value) {
         return with_oversubscription(cluster, parse_amount(WhatIfForm::ratio, value));
       }},
  }};
  return kRows;
}

Cluster apply(const Cluster& cluster, std::string_view key, std::string_view value) {
  std::vector<std::string_view> keys;
  for (const ClusterWhatIf& row : cluster_what_ifs()) {
    if (const auto selector = selector_in(key, row.key))
      return row.change(cluster, *selector, value);
    keys.push_back(row.key);
  }
  throw InputError(fmt::format("unknown key '{}'; allowed: {}", key, fmt::join(keys, ", ")));
}

}  // namespace strata
