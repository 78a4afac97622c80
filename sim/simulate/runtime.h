#pragma once

// How the software that runs a plan behaves, beside the plan: what a framework does while bytes
// move, and how fast its host launches what a device computes. Values.

#include <cstdint>
#include <string_view>

#include "sim/base/units.h"
#include "sim/graph/ops/phase.h"

namespace strata {

/// Whether a device computes while bytes come to it or leave it. Without overlap it does one after
/// the other, in plan order: what frameworks do that wait for their communication.
enum class Overlap : std::uint8_t { allowed, none };

/// Up to so many devices sum at the usual cost of a launch (Launches::lockstep).
inline constexpr std::size_t kUsualGroup = 4;

/// What the thread of a device's host takes for each kernel, before it launches the next one. It
/// runs ahead of the device, in plan order, and begins with a step when the device has ended the
/// one before (it reads the loss). A device whose kernels are shorter than that waits for it. All
/// zero: recorded graphs, which a device starts by itself.
struct Launches {
  Seconds forward = {}, backward = {}, update = {};  ///< of a compute task's kernels, by its phase
  Seconds communication = {};                        ///< of what sums or gathers among devices
  /// Besides, of what more than kUsualGroup devices sum: their hosts wait for the slowest of them.
  Seconds lockstep = {};
  /// Whether it waits for what other stages send before it launches what comes after that, as
  /// frameworks do that synchronise with each receive.
  bool wait_for_stages = false;
  /// Whether it waits for its device between the forward and backward passes of rounds, as
  /// frameworks do whose timers synchronise.
  bool wait_for_passes = false;

  bool any() const {
    const Seconds all = forward + backward + update + communication + lockstep;
    return all > Seconds{0} || wait_for_stages || wait_for_passes;
  }
  bool operator==(const Launches&) const = default;
};

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
/// pinned memory reach; of the fifth generation (H100 and later), the fourth (A100) or the third.
constexpr BytesPerSecond usual_host_link(std::string_view kind) {
  if (kind.starts_with("h") || kind.starts_with("b")) return {50e9};
  return {kind.starts_with("a") ? 25e9 : 12.5e9};
}
/// An assumption: what the cores of two sockets move while they pass over arrays in their memory,
/// whose channels have two to six times as much.
inline constexpr BytesPerSecond kUsualHostMemory{100e9};

struct Runtime {
  Overlap overlap = Overlap::allowed;
  Launches launches = {};
  HostUpdates host = {};
  /// What a device that takes part in a collective loses of its computing speed while bytes move,
  /// to the kernels that move them and to their traffic in its memory; below 1.
  double communication_share = 0;

  constexpr Runtime(Overlap while_bytes_move = Overlap::allowed) : overlap(while_bytes_move) {}
  bool operator==(const Runtime&) const = default;
};

}  // namespace strata
