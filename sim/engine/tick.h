#pragma once

// The engine's clock: an integer number of picoseconds, so that times add up without rounding and
// "at the same time" means something. A duration is rounded once, when it becomes an event.

#include <cstdint>

#include "sim/base/index.h"
#include "sim/base/units.h"

namespace strata {

/// Simulated time in picoseconds since the start.
using Tick = std::int64_t;
inline constexpr double kTicksPerSecond = 1e12;
/// The longest duration and the latest time that the clock holds: 9.0e6 s, about 104 days.
inline constexpr Tick kMaxTick = 9'000'000'000'000'000'000;

/// Rounds to the nearest tick. Seconds must be in [0, 9.0e6]; the readers of files enforce it.
Tick to_ticks(Seconds seconds);
constexpr Seconds to_seconds(Tick ticks) {
  return {static_cast<double>(ticks) / kTicksPerSecond};
}

}  // namespace strata
