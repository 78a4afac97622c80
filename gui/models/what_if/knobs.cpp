// What turning a knob does to a document, and how its values are read and written.

#include "gui/models/what_if/knobs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "gui/models/scene.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/cluster/named_size.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

// A what-if's value as a factor of what is there without it.
double factor_in(const Knob& knob, const std::string& text) try {
  if (text.empty()) return 1;
  if (is_factor(text)) return parse_factor(text);
  const double value = parse_amount(knob.form, text);
  if (knob.form == WhatIfForm::speed) return value;
  return knob.base > 0 ? value / knob.base : 1;
} catch (const InputError&) {
  return 1;  // the prediction says what is wrong with it
}

Document resized(const Document& document, Turns turns, int count) {
  auto size = named_size(document.input.cluster);
  if (!size) return document;
  (turns == Turns::hosts ? size->hosts : size->devices) = count;
  return document.resized(size->name());
}

int checked_count(const Knob& knob, std::string_view text) {
  const auto count = count_in(text);
  if (!count) {
    throw InputError(fmt::format("{}: '{}' is no count; allowed: 1, 2, 3, ...", knob.title, text));
  }
  return *count;
}

void check_what_if(const Knob& knob, std::string_view text) {
  if (is_factor(text)) {
    parse_factor(text);
  } else if (parse_amount(knob.form, text) <= 0 && knob.form == WhatIfForm::speed) {
    throw InputError(fmt::format("'{}' is not a speed; allowed: a positive number", text));
  }
}

// Whether a what-if changes the number and the link that the knob's meaning is of.
bool is_about(const Knob& knob, std::string_view key) {
  const WhatIfSpec* const what_if = find_what_if(knob.key);
  const auto selector = what_if != nullptr ? selector_in(key, what_if->key) : std::nullopt;
  return selector && std::ranges::find(knob.selectors, *selector) != knob.selectors.end();
}

bool is_plain_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

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

// Of the first of the links, which those beside it may differ from. What changes one of several is
// not about all.
void set_base(Knob& knob, const std::vector<const Link*>& links, double (*number)(const Link&)) {
  knob.base = number(*links.front());
  knob.selectors = {"*", links.front()->kind};
  if (links.size() == 1) knob.selectors.push_back(links.front()->name);
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
  Knob bandwidth{Turns::what_if,
                 fmt::format("link.{}.bandwidth", selector),
                 std::string(kNetwork),
                 fmt::format("Bandwidth, {}", spoken(selector)),
                 1. / 32,
                 32};
  set_base(bandwidth, limiting, [](const Link& link) { return link.bandwidth.value; });
  bandwidth.form = WhatIfForm::bandwidth;
  knobs.push_back(std::move(bandwidth));
  const auto late =
      links_of(cluster, selector, [](const Link& link) { return link.latency.value > 0; });
  if (late.empty()) return;
  Knob latency{Turns::what_if,
               fmt::format("link.{}.latency", selector),
               std::string(kNetwork),
               fmt::format("Latency, {}", spoken(selector)),
               0.01,
               100};
  set_base(latency, late, [](const Link& link) { return link.latency.value; });
  latency.form = WhatIfForm::latency;
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
  return {Turns::what_if, std::move(key), std::string(group), std::move(title), 0.1, 10, 1, 0, {}};
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
  knobs.push_back(size_knob(
      Turns::batch, "batch", kWork,
      input.training.batch ? "Batch, of all devices" : "Batch, of each device",
      batch_stops(input.training.batch ? 16384 : 1024),
      static_cast<double>(usual.training.batch.value_or(usual.training.batch_per_device))));
}

Knob single_knob(const std::string& key, const WhatIfSpec& what_if, const Cluster& cluster) {
  const std::string selector(*selector_in(key, what_if.key));
  if (key.starts_with("layer.")) return layer_knob(selector);
  if (key.starts_with("device.")) return speed_knob(key, kDevices, "Speed, " + spoken(selector));
  std::vector<Knob> both;
  add_link_knobs(cluster, selector, both);
  for (Knob& knob : both) {
    if (knob.key == key) return knob;
  }
  Knob knob{Turns::what_if, key, std::string(kNetwork), key, 1. / 32, 32};
  knob.form = what_if.form;
  return knob;
}

void add_others(const Document& document, const Cluster& cluster, std::vector<Knob>& knobs) {
  for (const auto& set : document.input.sets) {
    const std::string& key = set.first;
    const auto same = [&](const Knob& knob) { return knob.key == key; };
    const WhatIfSpec* const what_if = find_what_if(key);
    const bool slides = what_if != nullptr && takes_factors(what_if->form);
    if (!slides || std::any_of(knobs.begin(), knobs.end(), same)) continue;
    knobs.push_back(single_knob(key, *what_if, cluster));
  }
}

constexpr int kCoarse = 8;  // gaps of the first round

// More devices than this take seconds each, which nobody waits for while dragging.
bool quick(const Knob& knob, double value, const Document& document) {
  if (knob.turns != Turns::hosts && knob.turns != Turns::devices) return true;
  const auto size = named_size(turned(knob, document, value).input.cluster);
  return !size || size->hosts.value_or(1) * size->devices.value_or(8) <= 128;
}

}  // namespace

double value_of(const Knob& knob, const Document& document) {
  const CaseRequest& input = document.input;
  if (knob.turns == Turns::batch) {
    return static_cast<double>(input.training.batch.value_or(input.training.batch_per_device));
  }
  if (!knob.counts()) return factor_in(knob, document.what_if(knob.key));
  const NamedSize size = named_size(input.cluster).value_or(NamedSize{});
  return (knob.turns == Turns::hosts ? size.hosts : size.devices).value_or(1);
}

Document turned(const Knob& knob, const Document& document, double value) {
  const int count = static_cast<int>(std::lround(value));
  if (knob.turns == Turns::batch) return document.with_batch(count);
  if (knob.counts()) return resized(document, knob.turns, count);
  return document.with_what_if(knob.key, value == 1 ? std::string() : text_of(knob, value));
}

Document typed(const Knob& knob, const Document& document, std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return turned(knob, document, knob.usual);
  if (knob.counts()) return turned(knob, document, checked_count(knob, text));
  std::string value(text);
  if (knob.form != WhatIfForm::speed && is_plain_number(text)) value += 'x';
  check_what_if(knob, value);
  const bool nothing = is_factor(value) && parse_factor(value) == 1;
  return document.with_what_if(knob.key, nothing ? std::string() : value);
}

std::string text_of(const Knob& knob, double value) {
  return knob.counts() ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}x", value);
}

std::string meaning_of(const Knob& knob, const Document& document) try {
  if (knob.base == 0 || knob.mixed) return {};
  double value = knob.base;
  for (const auto& [key, text] : document.input.sets) {  // in the order in which they are applied
    if (!is_about(knob, key)) continue;
    const double before = value;
    value = is_factor(text) ? before * parse_factor(text) : parse_amount(knob.form, text);
  }
  return print_amount(knob.form, value);
} catch (const InputError&) {
  return {};  // the prediction says what is wrong with it
}

double position_of(const Knob& knob, double value) {
  if (value <= knob.least) return 0;
  return std::min(1.0, std::log(value / knob.least) / std::log(knob.most / knob.least));
}

// Near 1 a factor is 1: a slider must find back.
double value_at(const Knob& knob, double position) {
  const double value = knob.least * std::pow(knob.most / knob.least, std::clamp(position, 0., 1.));
  if (!knob.counts()) {
    const bool near_1 = std::abs(position - position_of(knob, 1)) < 0.006;
    return near_1 ? 1 : parse_factor(text_of(knob, value));
  }
  const auto nearer = [&](double a, double b) {
    return std::abs(std::log(a / value)) < std::abs(std::log(b / value));
  };
  return *std::min_element(knob.stops.begin(), knob.stops.end(), nearer);
}

// Which knobs a document has.

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

std::vector<double> curve_values(const Knob& knob, int round) {
  if (knob.counts()) return round == 0 ? knob.stops : std::vector<double>();
  std::vector<double> values;
  const int gaps = kCoarse << round;
  for (int i = 0; i <= gaps; ++i) {
    if (round > 0 && i % 2 == 0) continue;
    values.push_back(value_at(knob, static_cast<double>(i) / gaps));
  }
  return values;
}

std::vector<CurvePoint> curve_points(const Document& document, const Knob& knob,
                                     const std::vector<double>& values, CaseLoader& loader,
                                     const std::atomic<bool>* cancelled) {
  std::vector<CurvePoint> points;
  for (const double value : values) {
    throw_if_cancelled(cancelled);
    if (!quick(knob, value, document)) continue;
    try {
      points.push_back({value, predicted_step(turned(knob, document, value), loader, cancelled)});
    } catch (const InputError&) {  // there is no such case: the curve has a gap
    }
  }
  return points;
}

std::vector<CurvePoint> merged(std::vector<CurvePoint> a, const std::vector<CurvePoint>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end(),
            [](const CurvePoint& x, const CurvePoint& y) { return x.value < y.value; });
  const auto same = [](const CurvePoint& x, const CurvePoint& y) { return x.value == y.value; };
  a.erase(std::unique(a.begin(), a.end(), same), a.end());
  return a;
}

}  // namespace strata::gui
