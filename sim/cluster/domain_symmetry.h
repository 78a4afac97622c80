#pragma once

// Which domains of a cluster are wired alike. Exchanging two of one type, device for device and
// link for link, leaves the device graph and every route as they are, so whatever devices of the
// two do alike takes equally long.
//
// The vertices of a domain are its devices and the switches that only they can reach first; a
// switch that several domains reach is shared. Where all devices are in one domain, or some name
// none, each device counts as a domain of its own. A domain is what Device::fast_domain() names:
// often a host. Two domains are of one type where their devices have the same kind and speed and
// their links the same ends, bandwidth and latency, in order.
//
// Devices of one domain are alike where each link of the domain is one device's own, because it
// joins the device, or a switch that only the device reaches first, to what several reach (a switch
// of the domain, the network), and their own links are alike: exchanging two of them leaves
// everything as it is, too. Immutable; thread-safe.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

class DomainSymmetry {
 public:
  explicit DomainSymmetry(const Cluster& cluster);

  /// False where domains can't be told apart from the network between them, where some devices are
  /// not connected, or where routes may depend on more than the types of domains: then nothing else
  /// here means anything.
  bool holds() const { return holds_; }

  std::size_t domains() const { return first_device_.size() - 1; }
  std::uint32_t domain(DeviceId device) const { return devices_[device()].domain; }
  /// Of no shared link.
  std::uint32_t domain(LinkId link) const { return links_[link()].domain; }
  /// Whether the link joins shared switches, as those of a tree: it stands for itself, whatever
  /// domains are exchanged.
  bool is_shared(LinkId link) const { return links_[link()].domain == domains(); }
  /// The number of a device, or of a link, among those of its domain.
  std::uint32_t number(DeviceId device) const { return devices_[device()].number; }
  std::uint32_t number(LinkId link) const { return links_[link()].number; }
  DeviceId device(std::size_t domain, std::size_t number) const {
    return domain_devices_[first_device_[domain] + number];
  }
  LinkId link(std::size_t domain, std::size_t number) const {
    return domain_links_[first_link_[domain] + number];
  }
  std::size_t device_count(std::size_t domain) const {
    return first_device_[domain + 1] - first_device_[domain];
  }
  /// Equal for domains that are wired alike; from 0.
  std::uint32_t type(std::size_t domain) const { return types_[domain]; }
  /// The first two domains of a type; one twice where there is no other.
  std::uint32_t first_of(std::uint32_t type) const { return examples_[type].first; }
  std::uint32_t second_of(std::uint32_t type) const { return examples_[type].second; }

  /// Whether each link of the domain is one device's own. What is said of own links holds there
  /// alone.
  bool splits(std::size_t domain) const { return splits_[domain]; }
  DeviceId owner(LinkId link) const { return DeviceId(own_links_[link()].domain); }
  /// The number of a link among its device's own.
  std::uint32_t own_number(LinkId link) const { return own_links_[link()].number; }
  LinkId own_link(DeviceId device, std::uint32_t number) const {
    return device_links_[first_own_link_[device()] + number];
  }
  /// The number of the first device in the domain that the device may be exchanged with: its own
  /// where it is like none before it.
  std::uint32_t first_alike(DeviceId device) const { return first_alike_[device()]; }

 private:
  struct Place {
    std::uint32_t domain = 0, number = 0;
  };

  bool find_domains(const Cluster& cluster);
  void find_types(const Cluster& cluster, const std::vector<std::uint32_t>& vertex_domains);
  void find_own_links(const Cluster& cluster);
  void find_alike(const Cluster& cluster, const std::vector<std::uint64_t>& vertices);
  bool routes_are_alike(const Cluster& cluster) const;

  bool holds_ = false;
  std::vector<Place> devices_, links_;
  std::vector<std::uint32_t> first_device_ = {0}, first_link_ = {0};  // of each domain, and the end
  std::vector<DeviceId> domain_devices_;
  std::vector<LinkId> domain_links_;
  std::vector<std::uint32_t> types_;                               // by domain
  std::vector<std::pair<std::uint32_t, std::uint32_t>> examples_;  // by type
  std::vector<bool> splits_;                                       // by domain
  std::vector<Place> own_links_;  // in it, a link's device stands for a domain
  std::vector<std::uint32_t> first_own_link_, first_alike_;  // by device
  std::vector<LinkId> device_links_;
};

}  // namespace strata
