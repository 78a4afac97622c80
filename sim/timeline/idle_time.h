#pragma once

// When a device is idle, and what it waits for then. Pure functions; thread-safe.

#include <cstdint>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// What an idle device waits for; computation, or nothing that is known, is a bubble. Launch: its
/// host, which has yet to launch its next task (Launches, sim/simulate/runtime.h).
enum class WaitsFor : std::uint8_t { computation, transfer, reduce, gather, statistics, launch };

/// A stretch of a timeline in which a device is idle.
struct IdleTime {
  Seconds from, to;
  WaitsFor reason = WaitsFor::computation;
  bool operator==(const IdleTime&) const = default;
};

/// By DeviceId, in the order of time, over the whole timeline; reasons are told as breakdown() does
/// (breakdown.h). In a plan by classes, of the devices that stand for others alone. Two that meet
/// differ in their reasons. Takes time in proportion to the timeline's spans.
std::vector<std::vector<IdleTime>> idle_times(const Plan& plan, const Timeline& timeline);

}  // namespace strata
