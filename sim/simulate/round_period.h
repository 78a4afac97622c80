#pragma once

// When rounds of a step begin to repeat: once a pipeline is full, each does so many later what one
// did before it, and more rounds take so much longer. Pure; thread-safe.

#include <cstdint>
#include <optional>
#include <span>

#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

struct RoundPeriod {
  std::uint32_t rounds = 1;  ///< that a period has
  Seconds from;              ///< of the timeline: where one begins
  Seconds time;              ///< that it takes
};

/// While all devices compute forward and backward passes by turns, before one has begun the last of
/// its forward passes: whether in the end every device does in round r + `rounds` what it did in
/// round r, equally long after it to 1e-9 of that. Nothing where it does not, or where that time is
/// too short to tell. `step`: of a timeline's first step, by task.
std::optional<RoundPeriod> round_period(const Plan& plan, std::span<const Span> step,
                                        std::uint32_t rounds);

}  // namespace strata
