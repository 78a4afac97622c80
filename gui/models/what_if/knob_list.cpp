// Which knobs a document has.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gui/models/what_if/knobs.h"
#include "sim/cluster/named_size.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

constexpr std::string_view kNetwork = "Network", kDevices = "Devices", kWork = "Work";

std::vector<double> powers_of_two(double most) {
  std::vector<double> stops;
  for (double stop = 1; stop <= most; stop *= 2) stops.push_back(stop);
  return stops;
}

// Powers of two, and one between every two of them.
std::vector<double> batch_stops(double most) {
  std::vector<double> stops;
  for (const double power : powers_of_two(most)) {
    stops.push_back(power);
    if (power > 1 && power * 1.5 < most) stops.push_back(power * 1.5);
  }
  return stops;
}

Knob size_knob(Turns turns, std::string key, std::string_view group, std::string title,
               std::vector<double> stops, double usual) {
  Knob knob{turns, std::move(key), std::string(group), std::move(title), 1, stops.back(), usual};
  knob.stops = std::move(stops);
  return knob;
}

// Of those that the selector means, in their order: what a factor is a factor of.
template <class Limits>
std::vector<const Link*> links_of(const Cluster& cluster, std::string_view selector,
                                  const Limits& limits) {
  std::vector<const Link*> links;
  for (const Link& link : cluster.links()) {
    const bool selected = selector == "*" || link.kind == selector || link.name == selector;
    if (selected && limits(link)) links.push_back(&link);
  }
  return links;
}

// Of the first of the links, which those beside it may differ from.
void set_base(Knob& knob, const std::vector<const Link*>& links, double (*number)(const Link&)) {
  knob.base = number(*links.front());
  knob.selectors = {"*", links.front()->kind, links.front()->name};
  knob.mixed =
      std::ranges::any_of(links, [&](const Link* link) { return number(*link) != knob.base; });
}

std::string spoken(std::string_view selector) {
  return selector == "*" ? "all" : std::string(selector);
}

void add_link_knobs(const Cluster& cluster, const std::string& selector, std::vector<Knob>& knobs) {
  const auto limiting =
      links_of(cluster, selector, [](const Link& link) { return link.bandwidth < kNoLimit; });
  if (limiting.empty()) return;
  Knob bandwidth{Turns::bandwidth,
                 fmt::format("link.{}.bandwidth", selector),
                 std::string(kNetwork),
                 fmt::format("Bandwidth, {}", spoken(selector)),
                 1. / 32,
                 32};
  set_base(bandwidth, limiting, [](const Link& link) { return link.bandwidth.value; });
  knobs.push_back(std::move(bandwidth));
  const auto late =
      links_of(cluster, selector, [](const Link& link) { return link.latency.value > 0; });
  if (late.empty()) return;
  Knob latency{Turns::latency,
               fmt::format("link.{}.latency", selector),
               std::string(kNetwork),
               fmt::format("Latency, {}", spoken(selector)),
               0.01,
               100};
  set_base(latency, late, [](const Link& link) { return link.latency.value; });
  knobs.push_back(std::move(latency));
}

std::vector<std::string> link_kinds(const Cluster& cluster) {
  std::vector<std::string> kinds;
  for (const Link& link : cluster.links()) {
    const bool known = std::find(kinds.begin(), kinds.end(), link.kind) != kinds.end();
    if (!link.kind.empty() && !known && kinds.size() < 4) kinds.push_back(link.kind);
  }
  return kinds;
}

void add_network(const Cluster& cluster, std::vector<Knob>& knobs) {
  const std::vector<std::string> kinds = link_kinds(cluster);
  for (const std::string& kind : kinds) add_link_knobs(cluster, kind, knobs);
  if (kinds.size() != 1) add_link_knobs(cluster, "*", knobs);
}

Knob speed_knob(std::string key, std::string_view group, std::string title) {
  return {Turns::speed, std::move(key), std::string(group), std::move(title), 0.1, 10, 1, 0, {}};
}

void add_sizes(const Document& document, const Document& base, std::vector<Knob>& knobs) {
  const auto size = named_size(document.input.cluster);
  if (!size) return;
  const NamedSize usual = named_size(base.input.cluster).value_or(*size);
  if (size->hosts) {
    knobs.push_back(size_knob(Turns::hosts, "hosts", kDevices, "Hosts", powers_of_two(64),
                              usual.hosts.value_or(1)));
  }
  if (size->devices) {
    knobs.push_back(size_knob(Turns::devices, "devices", kDevices,
                              size->hosts ? "Devices in a host" : "Devices", powers_of_two(16),
                              usual.devices.value_or(1)));
  }
}

void add_devices(std::vector<Knob>& knobs) {
  knobs.push_back(speed_knob("device.*.speed", kDevices, "Speed, all"));
  knobs.push_back(speed_knob("device.first:1.speed", kDevices, "Speed, the first (a straggler)"));
}

void add_batch(const Document& document, const Document& base, std::vector<Knob>& knobs) {
  const CaseRequest &input = document.input, &usual = base.input;
  knobs.push_back(size_knob(Turns::batch, "batch", kWork,
                            input.batch ? "Batch, of all devices" : "Batch, of each device",
                            batch_stops(input.batch ? 16384 : 1024),
                            static_cast<double>(usual.batch.value_or(usual.batch_per_device))));
}

// "link.a>b.bandwidth": the link a>b.
std::string_view selector_of(std::string_view key) {
  const std::size_t begin = key.find('.') + 1, end = key.rfind('.');
  return begin == 0 || end < begin ? std::string_view() : key.substr(begin, end - begin);
}

Knob single_knob(const std::string& key, const Cluster& cluster) {
  const std::string selector(selector_of(key));
  if (key.starts_with("layer.")) return layer_knob(selector);
  if (key.starts_with("device.")) return speed_knob(key, kDevices, "Speed, " + spoken(selector));
  std::vector<Knob> both;
  add_link_knobs(cluster, selector, both);
  for (Knob& knob : both) {
    if (knob.key == key) return knob;
  }
  const Turns turns = key.ends_with(".latency") ? Turns::latency : Turns::bandwidth;
  return {turns, key, std::string(kNetwork), key, 1. / 32, 32, 1, 0, {}};
}

void add_others(const Document& document, const Cluster& cluster, std::vector<Knob>& knobs) {
  for (const auto& set : document.input.sets) {
    const std::string& key = set.first;
    const auto same = [&](const Knob& knob) { return knob.key == key; };
    if (key == "overlap" || std::any_of(knobs.begin(), knobs.end(), same)) continue;
    knobs.push_back(single_knob(key, cluster));
  }
}

}  // namespace

std::vector<Knob> knobs_of(const Document& document, const Cluster& cluster) {
  const Document base = document.without_what_ifs();
  std::vector<Knob> knobs;
  add_network(cluster, knobs);
  add_devices(knobs);
  add_sizes(document, base, knobs);
  add_batch(document, base, knobs);
  add_others(document, cluster, knobs);
  return knobs;
}

Knob layer_knob(const std::string& selector) {
  return speed_knob(fmt::format("layer.{}.speed", selector), kWork,
                    selector == "*" ? "Speed of all layers" : "Speed of " + selector);
}

}  // namespace strata::gui
