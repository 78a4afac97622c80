#include "sim/scenario/zip.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

auto find_axis(std::vector<Axis>& axes, const std::string& key) {
  return std::ranges::find_if(
      axes, [&](const Axis& axis) { return std::ranges::find(axis.keys, key) != axis.keys.end(); });
}

std::string all_keys(const std::vector<Axis>& axes) {
  std::vector<std::string> keys;
  for (const Axis& axis : axes) keys.insert(keys.end(), axis.keys.begin(), axis.keys.end());
  return fmt::format("{}", fmt::join(keys, ", "));
}

// The axis of one key; one that is zipped already has several.
Axis& single_axis(const Value& zip, std::vector<Axis>& axes, const std::string& key) {
  const auto axis = find_axis(axes, key);
  if (axis == axes.end()) {
    zip.fail(fmt::format("zip: the sweep has no '{}'; allowed: {}", key, all_keys(axes)));
  }
  if (axis->keys.size() > 1) zip.fail(fmt::format("zip: '{}' is zipped twice", key));
  return *axis;
}

void check_length(const Value& zip, const Axis& first, const Axis& other) {
  const std::size_t a = first.values.size(), b = other.values.size();
  if (a == b) return;
  zip.fail(fmt::format("zip: '{}' has {} values and '{}' {}; they must have as many",
                       first.keys.front(), a, other.keys.front(), b));
}

bool comes_before(const std::vector<std::string>& keys, std::size_t i) {
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(i);
  return std::find(keys.begin(), end, keys[i]) != end;
}

void check_keys(const Value& zip, const std::vector<std::string>& keys, std::vector<Axis>& axes) {
  if (keys.size() < 2) zip.fail_expected("a list of at least two keys");
  const Axis& first = single_axis(zip, axes, keys.front());
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (comes_before(keys, i)) zip.fail(fmt::format("zip: '{}' is zipped twice", keys[i]));
    check_length(zip, first, single_axis(zip, axes, keys[i]));
  }
}

// Its values go beside those of the first key.
void append(Axis& first, Axis other) {
  std::vector<int> lines;
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    for (std::size_t k = 0; k < first.keys.size(); ++k) {
      lines.push_back(first.location(i, k).line);
    }
    lines.push_back(other.lines[i]);
    first.values[i].push_back(std::move(other.values[i].front()));
  }
  first.keys.push_back(std::move(other.keys.front()));
  first.lines = std::move(lines);
}

void zip_one(const Value& zip, std::vector<Axis>& axes) {
  const std::vector<std::string> keys = zip.as_strings();
  check_keys(zip, keys, axes);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const auto at = find_axis(axes, keys[i]);
    Axis other = std::move(*at);
    axes.erase(at);
    append(*find_axis(axes, keys.front()), std::move(other));
  }
}

std::string joined(const std::vector<std::string>& place, std::string_view separator) {
  return fmt::format("{}", fmt::join(place, separator));
}

// Two places of one hash may be equal; sorting numbers is a tenth of the work of a map of texts.
bool may_repeat(const Axis& axis) {
  std::vector<std::size_t> hashes;
  hashes.reserve(axis.values.size());
  for (const std::vector<std::string>& place : axis.values) {
    std::size_t hash = 0;
    for (const std::string& value : place) hash = hash * 31 + std::hash<std::string>()(value);
    hashes.push_back(hash);
  }
  std::ranges::sort(hashes);
  return std::ranges::adjacent_find(hashes) != hashes.end();
}

}  // namespace

void zip_axes(const Value& zips, std::vector<Axis>& axes, Diagnostics& errors) {
  errors.attempt([&] {
    for (const Value& zip : zips.as_list()) errors.attempt([&] { zip_one(zip, axes); });
  });
}

void check_distinct(const Axis& axis, Diagnostics& errors) {
  if (!may_repeat(axis)) return;
  std::unordered_map<std::string, int> times;
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const std::vector<std::string>& place = axis.values[i];
    if (++times[joined(place, "\n")] != 2) continue;
    errors.add(axis.location(i, 0),
               fmt::format("'{}' has \"{}\" twice", joined(axis.keys, ", "), joined(place, ", ")));
  }
}

}  // namespace strata
