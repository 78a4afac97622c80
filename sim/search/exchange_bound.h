#pragma once

// How early what devices send one another can have arrived, whatever else the links carry: a lower
// bound for the simulated times of transfers that all begin at time 0 or later. Few devices.
//
// Proof. A flow moves no faster than the slowest link of its route allows, and all that must have
// crossed a link before a device has its last byte took the link's whole bandwidth at best. That is
// what the device itself receives over the link and, where links are shared fairly, also what its
// *siblings* receive of the same senders: flows from one sender to a device and to its sibling
// begin at the same time and cross the same links up to the shared one. Each link beyond it,
// towards the sibling, is entered from the link before it alone and is no slower; so it is full
// only while the link before it carries nothing else, which it does, as every flow that is under
// way moves. So the sibling's flow has its bottleneck among the links that both cross, on which the
// device's flow is no faster (sim/engine/fair_sharing.h): until that has ended, the sibling's has
// carried as much, or all that it had to.
//
// Seconds and bytes. Immutable; thread-safe.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

class ExchangeBound {
 public:
  static constexpr std::size_t kMostDevices = 16;
  using Times = std::array<double, kMostDevices>;   ///< by device
  using Traffic = std::array<Times, kMostDevices>;  ///< bytes, [from][to]
  using DeviceSet = std::array<bool, kMostDevices>;

  /// At most kMostDevices. `starts_together`: what a device sends to several begins at one time.
  ExchangeBound(const Cluster& cluster, bool starts_together);

  /// When each device has all that it gets from others; 0 where that is nothing.
  Times arrivals(const Traffic& traffic) const;
  /// When this device has these bytes from that one.
  double arrival(std::size_t from, std::size_t to, double bytes) const {
    return latency_[from][to] + bytes * slowest_[from][to];
  }
  /// When all of the receivers have all that they get.
  double last_arrival(const Traffic& traffic, const DeviceSet& receivers) const;

  /// The links that an exchange between all devices would load for longest, as those of the hosts'
  /// network adapters; none where they are many.
  std::span<const LinkId> busiest_links() const { return busiest_; }
  /// Adds for how long the traffic takes these links.
  void add_loads(const Traffic& traffic, std::span<double> seconds) const;
  void add_load(std::size_t from, std::size_t to, double bytes, std::span<double> seconds) const;

 private:
  // A link over which a device receives.
  struct Entry {
    double seconds_per_byte = 0, latency = 0;
    std::vector<std::uint8_t> senders, siblings;
  };

  void find_entries(const Cluster& cluster, bool starts_together);
  void find_busiest(const Cluster& cluster);

  std::size_t size_;
  Traffic latency_{}, slowest_{};            // seconds; seconds per byte
  std::vector<std::vector<Entry>> entries_;  // by receiver
  std::vector<LinkId> busiest_;
  std::vector<double> busiest_seconds_;               // per byte
  std::vector<std::vector<std::uint8_t>> crossings_;  // from * size + to: which of the busiest
};

}  // namespace strata
