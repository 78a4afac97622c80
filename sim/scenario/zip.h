#pragma once

// zip = [["cluster", "batch"]]: axes of one key each become one axis whose keys advance together.

#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

namespace strata {

/// The zipped axis takes the place of the axis that its list names first; its keys are in the
/// list's order. What is wrong goes to `errors`.
void zip_axes(const Value& zips, std::vector<Axis>& axes, Diagnostics& errors);

/// Adds an error for each place that an axis has more than once.
void check_distinct(const Axis& axis, Diagnostics& errors);

}  // namespace strata
