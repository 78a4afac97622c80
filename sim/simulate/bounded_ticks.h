#pragma once

// Durations of activities in ticks of the engine's clock. Internal to sim/simulate.

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/engine/tick.h"

namespace strata {

/// Throws InputError where one activity would outlast the clock; `what` says whose it is.
template <class What>
Tick bounded_ticks(Seconds time, const What& what) {
  if (time.value <= to_seconds(kMaxTick).value) return to_ticks(time);  // false for nan
  throw InputError(fmt::format("{} would take {:g} s; allowed: {:g} s, where the clock ends",
                               what(), time.value, to_seconds(kMaxTick).value));
}

}  // namespace strata
