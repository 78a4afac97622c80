#pragma once

// Whether steps of few rounds tell those of many: each further period of rounds must take as long,
// and do as much, whatever it belongs to. Pure; thread-safe.

#include <optional>

#include "sim/case/predict.h"
#include "sim/simulate/round_period.h"

namespace strata {

/// A period of rounds in the middle of the step.
Rounds repeated_rounds(const Plan& plan, const RoundPeriod& period);

/// How `few`, which has `few.plan.rounds()` of them, repeats a multiple of `multiple` rounds in the
/// step that its timeline tells; nothing where steps, devices or hosts do not repeat. Times agree
/// to `tolerance`.
std::optional<RoundPeriod> steady_period(const Case& input, const Prediction& few,
                                         std::uint32_t multiple, double tolerance);

}  // namespace strata
