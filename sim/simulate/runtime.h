#pragma once

// How the software that runs a plan behaves, beside the plan: what a framework does while bytes
// move, and how fast its host launches what a device computes. Values.

#include <cstdint>

#include "sim/base/units.h"
#include "sim/graph/ops/phase.h"
#include "sim/simulate/host_updates.h"

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
