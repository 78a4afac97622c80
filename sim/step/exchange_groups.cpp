#include "sim/step/exchange_groups.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// Frameworks pad parts that differ by so little to the largest.
constexpr double kMostUneven = 1.1;

/// What one device needs of others.
struct Need {
  const std::vector<Box>* boxes = nullptr;    // null: of its sums, a part that no other needs
  std::map<DeviceId, std::int64_t> elements;  // by owner, itself included

  std::vector<DeviceId> devices() const {
    std::vector<DeviceId> result;
    for (const auto& [device, count] : elements) result.push_back(device);
    return result;
  }
};

using Needs = std::map<DeviceId, Need>;

bool crosses(DeviceId reader, const Need& need) {
  return need.elements.size() > 1 || !need.elements.contains(reader);
}

/// The least and the largest part that one of them gets of another.
struct Parts {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  bool are_even() const {
    return static_cast<double>(most) <= kMostUneven * static_cast<double>(least);
  }
};

Parts parts_of(const Needs& needs, const std::vector<DeviceId>& devices) {
  Parts parts;
  for (const DeviceId device : devices) {
    for (const auto& [owner, count] : needs.at(device).elements) {
      parts.least = std::min(parts.least, count);
      parts.most = std::max(parts.most, count);
    }
  }
  return parts;
}

// Whether all of them need of all of them, and of nobody else.
bool need_of_all(const Needs& needs, const std::vector<DeviceId>& devices) {
  return std::all_of(devices.begin(), devices.end(), [&](DeviceId device) {
    const auto need = needs.find(device);
    return need != needs.end() && need->second.devices() == devices;
  });
}

// Whether all of them need the same.
bool need_alike(const Needs& needs, const std::vector<DeviceId>& devices, const Need& first) {
  return std::all_of(devices.begin(), devices.end(), [&](DeviceId device) {
    const std::vector<Box>* boxes = needs.at(device).boxes;
    return first.boxes == nullptr || boxes == first.boxes || *boxes == *first.boxes;
  });
}

ExchangeGroups groups_of(const Needs& needs) {
  ExchangeGroups found;
  for (const auto& [reader, need] : needs) {
    if (!crosses(reader, need) || found.of.contains(reader)) continue;
    std::vector<DeviceId> devices = need.devices();
    if (!need.elements.contains(reader) || !need_of_all(needs, devices)) return {};
    const Parts parts = parts_of(needs, devices);
    if (!parts.are_even()) return {};
    const bool otherwise = !need_alike(needs, devices, need);
    if (otherwise && devices.size() > kMostOfAllToAll) return {};
    const auto number = static_cast<std::uint32_t>(found.groups.size());
    for (const DeviceId device : devices) found.of.emplace(device, number);
    const auto count = static_cast<std::int64_t>(devices.size());
    const std::int64_t elements = count * parts.most * (otherwise ? count : 1);
    found.groups.push_back({std::move(devices), elements, otherwise});
  }
  return found;
}

}  // namespace

ExchangeGroups exchange_groups(const EdgeReads& reads, std::span<const DeviceId> producers,
                               std::span<const DeviceId> consumers) {
  Needs needs;
  for (std::size_t k = 0; k < reads.boxes.size(); ++k) {
    for (const std::uint32_t reader : reads.readers[k]) {
      Need& need = needs[consumers[reader]];
      need.boxes = &reads.boxes[k];
      for (const EdgeReads::Owner& owner : reads.owners[k]) {
        need.elements[producers[owner.shard]] += owner.elements;
      }
    }
  }
  return groups_of(needs);
}

ExchangeGroups partial_sum_groups(const Layer& layer, const Config& config) {
  Needs needs;
  for (const NeededBox& box : partial_boxes(layer, config)) {
    needs[box.reader].elements[box.owner] += volume(box.box);
  }
  return groups_of(needs);
}

}  // namespace strata
