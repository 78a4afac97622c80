#pragma once

// Names of lines beside their last points, which are easier to follow than a legend. Pure;
// thread-safe.

#include <vector>

#include "sim/report/layout.h"

namespace strata {

/// One for each series; none at all where they would touch, where not all lines end at the same x,
/// or where the chart is none of lines over numbers.
std::vector<EndLabel> end_labels(const Drawing& drawing, const Scale& y);

/// What they need at the right of the frame.
double room_for(const std::vector<EndLabel>& ends);

}  // namespace strata
