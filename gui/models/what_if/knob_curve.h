#pragma once

// What the step time does over a slider's whole range, all else being as it is: computed coarsely
// first, then finer, so that something is there at once. Pure functions; thread-safe.

#include <atomic>
#include <vector>

#include "gui/models/what_if/knobs.h"
#include "sim/study/sweep/case_loader.h"

namespace strata::gui {

struct CurvePoint {
  double value = 1;
  Seconds step;
  bool operator==(const CurvePoint&) const = default;
};

/// How many rounds there are: each after the first fills the gaps of those before.
inline constexpr int kCurveRounds = 3;

/// The values that a round asks for, ascending; of a size its stops, in the first round.
std::vector<double> curve_values(const Knob& knob, int round);

/// Without the values for which nothing can be predicted. Throws Cancelled once the flag is set.
std::vector<CurvePoint> curve_points(const Document& document, const Knob& knob,
                                     const std::vector<double>& values, CaseLoader& loader,
                                     const std::atomic<bool>* cancelled);

/// Both together, by value.
std::vector<CurvePoint> merged(std::vector<CurvePoint> a, const std::vector<CurvePoint>& b);

}  // namespace strata::gui
