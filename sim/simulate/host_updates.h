#pragma once

// How long hosts take for what they do of updates, in whose memory the optimizer's state lies
// (Offload). Values; thread-safe to read.

#include <map>
#include <string>
#include <string_view>

#include "sim/base/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace strata {

/// A rate of hosts: one that all have, or what a host of a device's kind usually has, so many
/// times.
struct HostRate {
  BytesPerSecond given = {};  ///< 0: the usual one
  double times = 1;
  BytesPerSecond of(BytesPerSecond usual) const {
    return {times * (given.value > 0 ? given : usual).value};
  }
  bool operator==(const HostRate&) const = default;
};

/// How fast hosts update parameters in their memory (Offload).
struct HostUpdates {
  HostRate link;    ///< between it and a device, each way: usual_host_link()
  HostRate memory;  ///< what its cores read and write, for all its devices: kUsualHostMemory
  bool operator==(const HostUpdates&) const = default;
};

/// By a device's kind: four fifths of what sixteen lanes of PCI Express signal, which copies from
/// pinned memory reach; of the fifth generation (H100, H200, B200), the fourth (A100) or, for all
/// other kinds, the third.
constexpr BytesPerSecond usual_host_link(std::string_view kind) {
  if (kind == "h100" || kind == "h200" || kind == "b200") return {50e9};
  return {kind == "a100" ? 25e9 : 12.5e9};
}
/// An assumption: what the cores of two sockets move while they pass over arrays in their memory,
/// whose channels have two to six times as much.
inline constexpr BytesPerSecond kUsualHostMemory{100e9};

/// Of the devices of a cluster.
class HostTimes {
 public:
  /// `cluster` must outlive this.
  HostTimes(const Cluster& cluster, const HostUpdates& updates);

  /// What the part of its host does for the device. The devices of a host have equal shares of what
  /// its cores do: they update at the same time.
  Seconds of(DeviceId device, HostPart part, Bytes bytes) const;

 private:
  const Cluster& cluster_;
  HostUpdates updates_;
  std::map<std::string, std::size_t> devices_;  // by host
};

}  // namespace strata
