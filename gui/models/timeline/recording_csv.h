#pragma once

// A recording's slices as comma-separated values: "group,lane,name,begin_seconds,end_seconds".
// Pure.

#include <string>

#include "gui/models/timeline/lanes.h"

namespace strata::gui {

/// Those that overlap the range, lane by lane; without curves.
std::string print_csv(const Recording& recording, const TimeRange& range);

}  // namespace strata::gui
