#include "sim/study/phase_map/map_axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/cluster/named_size.h"
#include "sim/explain/break_even.h"
#include "sim/scenario/settings.h"
#include "sim/text/split.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kMostHosts = 16, kMostInHost = 8;
constexpr double kOctaves = 3;  // of factors and batches, each way

bool is_batch(std::string_view key) {
  return key == kBatchKey || key == kBatchPerDeviceKey;
}

// A factor of 1 leaves it as it is.
void set_what_if(WhatIfs& sets, const std::string& key, const std::string& value) {
  const auto set = std::ranges::find(sets, key, &WhatIfs::value_type::first);
  if (is_factor(value) && parse_factor(value) == 1) {
    if (set != sets.end()) sets.erase(set);
  } else if (set == sets.end()) {
    sets.emplace_back(key, value);
  } else {
    set->second = value;
  }
}

std::string resized(const std::string& cluster, const std::string& key, const std::string& value) {
  std::optional<NamedSize> size = named_size(cluster);
  std::optional<int>* count = nullptr;
  if (size) count = key == kHostsKey ? &size->hosts : &size->devices;
  if (count == nullptr || !*count) {
    throw InputError(fmt::format(
        "{}: the name of cluster {} does not say how many; allowed: for clusters as p100-4x4", key,
        cluster));
  }
  const std::optional<int> number = count_in(value);
  if (!number) {
    throw InputError(fmt::format("{}: '{}' is no count; allowed: 1, 2, 3, ...", key, value));
  }
  *count = *number;
  return size->name();
}

std::vector<std::string> factors() {
  std::vector<std::string> values;
  for (double octave = -kOctaves; octave <= kOctaves; ++octave) {
    values.push_back(fmt::format("{}x", std::exp2(octave)));
  }
  return values;
}

// Around the batch as it is, by powers of two.
std::vector<std::string> batches(std::int64_t now) {
  std::vector<std::string> values;
  for (double octave = -kOctaves; octave <= kOctaves; ++octave) {
    const double batch = static_cast<double>(now) * std::exp2(octave);
    if (batch >= 1 && batch == std::floor(batch)) values.push_back(fmt::format("{:.0f}", batch));
  }
  return values;
}

std::vector<std::string> powers_of_two(std::int64_t most) {
  std::vector<std::string> values;
  for (std::int64_t count = 1; count <= most; count *= 2) values.push_back(std::to_string(count));
  return values;
}

std::string number_text(const MapAxis& axis, std::size_t value, double number) {
  if (is_factor(axis.values[value])) return fmt::format("{:.2g}x", number);
  if (const WhatIfSpec* what_if = find_what_if(axis.key)) {
    return print_amount(what_if->form, number);
  }
  const bool up = number_of(axis, value) < number_of(axis, value + 1);
  return fmt::format("{:.0f}", up ? std::ceil(number) : std::floor(number));
}

std::string allowed_keys(const std::vector<MapAxis>& usual) {
  std::vector<std::string> keys;
  keys.reserve(usual.size());
  for (const MapAxis& axis : usual) keys.push_back(axis.key);
  return fmt::format("{}, or KEY=VALUE,VALUE,... with a key of `set`", fmt::join(keys, ", "));
}

}  // namespace

CaseRequest with_value(CaseRequest request, const std::string& key, const std::string& value) {
  if (key == kBatchKey) {
    read_setting(key, value, request.training.batch);
  } else if (key == kBatchPerDeviceKey) {
    read_setting(key, value, request.training.batch_per_device);
    request.training.batch.reset();
  } else if (key == kHostsKey || key == kDevicesPerHostKey) {
    request.cluster = resized(request.cluster, key, value);
  } else if (is_what_if(key)) {
    set_what_if(request.sets, key, value);
  } else {
    throw InputError(fmt::format(
        "unknown axis '{}'; allowed: {}, {}, {}, {}, or a key of `set`, as link.inter.bandwidth",
        key, kBatchKey, kBatchPerDeviceKey, kHostsKey, kDevicesPerHostKey));
  }
  return request;
}

std::vector<MapAxis> usual_axes(const CaseRequest& request, const Cluster& cluster) {
  std::vector<MapAxis> axes;
  for (const std::string& kind : limiting_link_kinds(cluster)) {
    axes.push_back({fmt::format("link.{}.bandwidth", kind), factors()});
  }
  if (axes.empty()) axes.push_back({"link.*.bandwidth", factors()});
  const bool whole = request.training.batch.has_value();
  axes.push_back({std::string(whole ? kBatchKey : kBatchPerDeviceKey),
                  batches(whole ? *request.training.batch : request.training.batch_per_device)});
  const NamedSize size = named_size(request.cluster).value_or(NamedSize{});
  if (size.hosts) axes.push_back({std::string(kHostsKey), powers_of_two(kMostHosts)});
  if (size.devices) axes.push_back({std::string(kDevicesPerHostKey), powers_of_two(kMostInHost)});
  axes.push_back({"device.*.speed", factors()});
  return axes;
}

bool is_one_number(std::string_view key, std::string_view other) {
  return key == other || (is_batch(key) && is_batch(other));
}

MapAxis usual_x(const std::vector<MapAxis>& usual, std::string_view y) {
  const MapAxis* found = nullptr;
  for (const MapAxis& axis : usual) {
    if (is_one_number(axis.key, y)) continue;
    if (found == nullptr || axis.key.starts_with("link.")) found = &axis;
  }
  return *found;
}

MapAxis usual_y(const std::vector<MapAxis>& usual, std::string_view x) {
  if (is_batch(x)) return usual_x(usual, x);
  return *std::ranges::find_if(usual, is_batch, &MapAxis::key);
}

MapAxis read_axis(const std::string& text, const std::vector<MapAxis>& usual) {
  const std::size_t equals = text.find('=');
  MapAxis axis{text.substr(0, equals), {}};
  if (equals != std::string::npos) {
    axis.values = split_at_commas(std::string_view(text).substr(equals + 1));
  } else if (const auto known = std::ranges::find(usual, axis.key, &MapAxis::key);
             known != usual.end()) {
    axis.values = known->values;
  } else {
    throw InputError(
        fmt::format("{}: no usual values; allowed: {}", axis.key, allowed_keys(usual)));
  }
  return axis;
}

std::string print_axis(const MapAxis& axis) {
  return fmt::format("{}={}", axis.key, fmt::join(axis.values, ","));
}

std::optional<double> number_of(const MapAxis& axis, std::size_t value) try {
  const std::string& text = axis.values.at(value);
  if (is_factor(text)) return parse_factor(text);
  const WhatIfSpec* const what_if = find_what_if(axis.key);
  return what_if != nullptr ? parse_amount(what_if->form, text) : parse_number(text);
} catch (const InputError&) {
  return std::nullopt;
}

// What rounding takes out of the interval is at its end.
std::string text_between(const MapAxis& axis, std::size_t value, double number) {
  const std::string& end = axis.values.at(value + 1);
  std::string text = number_text(axis, value, number);
  const auto here = number_of(axis, value), there = number_of(axis, value + 1);
  const auto said = number_of({axis.key, {text}}, 0);
  if (!here || !there || !said) return end;
  const bool within =
      *here < *there ? *here < *said && *said <= *there : *there <= *said && *said < *here;
  return within ? text : end;
}

}  // namespace strata
