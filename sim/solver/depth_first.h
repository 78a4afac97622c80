#pragma once

// The paper's baseline: depth-first search over all strategies, a variable at a time in the
// graph's order, leaving a branch once its cost so far is no better than the best strategy known.

#include "sim/solver/solution.h"

namespace strata {

/// Exhaustive unless a limit stops it; then the best so far, and `lower_bound` is the sum of every
/// table's least entry. Of equal strategies the lexicographically first; none of infinite cost.
/// Precondition: no entry is negative.
Solution depth_first(const CostTables& tables, const SolveLimits& limits = {});

}  // namespace strata
