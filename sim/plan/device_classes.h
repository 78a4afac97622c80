#pragma once

// Devices that do the same at the same time, so that one of each class stands for all, and the
// links of their domains likewise. classify_devices.h finds them. Immutable; thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/cluster/domain_symmetry.h"

namespace strata {

class DeviceClasses {
 public:
  /// Each device is a class.
  explicit DeviceClasses(std::size_t devices);
  /// `colours`: of devices; those of one colour are alike. Domains that have one colour in common
  /// must have as many devices of each.
  DeviceClasses(std::shared_ptr<const DomainSymmetry> domains,
                std::span<const std::uint32_t> colours);

  bool is_trivial() const { return !domains_; }
  DeviceId representative(DeviceId device) const {
    return domains_ ? representatives_[device()] : device;
  }
  bool is_representative(DeviceId device) const { return representative(device) == device; }
  /// How many devices are in the class.
  std::int64_t members(DeviceId device) const;
  std::vector<DeviceId> representatives() const;

  /// Of links: the device's that stands for the link's own device, or in the domain that stands for
  /// the link's. Its class has as many members.
  LinkId representative(LinkId link) const;
  std::int64_t members(LinkId link) const;
  /// Of no domain: all that its class's members load it with is on the link itself.
  bool is_shared(LinkId link) const;
  bool share_domain(DeviceId a, DeviceId b) const;

  bool operator==(const DeviceClasses&) const = default;

 private:
  std::size_t devices_;
  std::shared_ptr<const DomainSymmetry> domains_;  // null: each device is a class
  std::vector<DeviceId> representatives_;          // by device
  std::vector<std::int64_t> alike_;  // by device: how many it stands for, itself included
};

}  // namespace strata
