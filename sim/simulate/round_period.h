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
/// its forward passes: after how many rounds, a multiple of `rounds`, every device does in the end
/// what it did before, equally long after it to `tolerance` of that. Nothing where that does not
/// come about in time. What it does is compared for twice the longest of all tasks and passes: what
/// is under way at one time began in that. A short stage can make a wave that runs through the
/// pipeline for ever, once in almost as many rounds as there are stages. `step`: of one of a
/// timeline's steps, by task.
std::optional<RoundPeriod> round_period(const Plan& plan, std::span<const Span> step,
                                        std::uint32_t rounds, double tolerance = 1e-9);

}  // namespace strata
