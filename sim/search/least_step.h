#pragma once

// The lower bound on the step of every strategy of a space (step_bound.h), where how the batch is
// cut in rounds depends on the strategy, too: the least of the bounds over all numbers of
// data-parallel groups that a strategy of the space may have. Pure; thread-safe.

#include "sim/search/solve.h"

namespace strata {

/// Of the strategies that keep these layers as they are (keep.h). Throws Cancelled once `limits`
/// say so.
Seconds least_step(const Case& input, const SearchOptions& options, const KeptLayers& kept,
                   const SolveLimits& limits);

}  // namespace strata
