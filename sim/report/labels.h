#pragma once

// The labels of ticks, thinned where they would touch, and the names of lines beside their last
// points, which are easier to follow than a legend. Pure; thread-safe.

#include <string>
#include <vector>

#include "sim/report/layout.h"

namespace strata {

/// Categories whose names do not fit side by side are written upwards to the right.
bool wants_slant(const std::vector<std::string>& categories, double slot);

std::vector<TickMark> x_tick_labels(const Drawing& drawing, const Scale& scale, bool slanted);
std::vector<TickMark> y_tick_labels(const Scale& scale);

/// From the frame down to the base line of what has the labels above it.
double labels_depth(const std::vector<TickMark>& ticks, bool slanted);

/// Of slanted labels; the angle is 35 degrees.
constexpr double kSlantCosine = 0.819, kSlantSine = 0.574;

/// One for each series; none at all where they would touch, where not all lines end at the same x,
/// or where the chart is none of lines over numbers.
std::vector<EndLabel> end_labels(const Drawing& drawing, const Scale& y);

/// What they need at the right of the frame.
double room_for(const std::vector<EndLabel>& ends);

}  // namespace strata
