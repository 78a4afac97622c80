#pragma once

// The paper's baseline: depth-first search over all strategies, a variable at a time in the
// graph's order, leaving a branch once its cost so far is no better than the best strategy known.

#include "sim/solver/solution.h"

namespace strata {

/// Exhaustive unless a limit stops it; then `lower_bound` is what was proved (at least the sum of
/// every table's least entry).
Solution depth_first(const CostTables& tables, const SolveLimits& limits = {});

}  // namespace strata
