#pragma once

// The devices that hold a layer's shards, in the order of the shards. Layers of one strategy mostly
// lie on the same devices, and large clusters have thousands: copies share one list, and lists that
// are shared are equal without a look at what is in them. Immutable value; thread-safe.

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

class ShardDevices {
 public:
  ShardDevices() = default;
  ShardDevices(std::vector<DeviceId> devices)  // NOLINT(google-explicit-constructor)
      : devices_(std::make_shared<const std::vector<DeviceId>>(std::move(devices))) {}
  ShardDevices(std::initializer_list<DeviceId> devices)
      : ShardDevices(std::vector<DeviceId>(devices)) {}

  std::span<const DeviceId> all() const& {
    return devices_ ? std::span<const DeviceId>(*devices_) : std::span<const DeviceId>();
  }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::span<const DeviceId>() const& { return all(); }
  // Of one that goes they would outlive it.
  std::span<const DeviceId> all() && = delete;
  operator std::span<const DeviceId>() && = delete;  // NOLINT(google-explicit-constructor)
  std::size_t size() const { return devices_ ? devices_->size() : 0; }
  bool empty() const { return size() == 0; }
  DeviceId operator[](std::size_t shard) const { return (*devices_)[shard]; }
  DeviceId front() const { return devices_->front(); }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }

  bool operator==(const ShardDevices& other) const {
    return devices_ == other.devices_ || std::ranges::equal(all(), other.all());
  }
  std::strong_ordering operator<=>(const ShardDevices& other) const {
    if (devices_ == other.devices_) return std::strong_ordering::equal;
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  std::shared_ptr<const std::vector<DeviceId>> devices_;
};

/// The first so many devices of a cluster's order: one list for each number.
class FirstDevices {
 public:
  const ShardDevices& operator()(std::size_t count) {
    ShardDevices& list = lists_[count];
    if (list.size() == count) return list;
    std::vector<DeviceId> devices;
    devices.reserve(count);
    for (std::size_t i = 0; i < count; ++i) devices.push_back(DeviceId(i));
    return list = ShardDevices(std::move(devices));
  }

 private:
  std::map<std::size_t, ShardDevices> lists_;
};

}  // namespace strata
