#pragma once

// The search under the simulated step. No such measure is a sum over layers, so it starts from
// strategies that are the best under sums which are close to it, and moves on from the fastest of
// them (sim/solver/refine.h): the best under Eq. 1, the best where only a part of what Eq. 1 adds
// up counts (sim/solver/discount.h), as overlap hides the rest, and the usual ones.

#include <vector>

#include "sim/search/score.h"
#include "sim/search/solve.h"
#include "sim/search/step_bound.h"
#include "sim/solver/refine.h"
#include "sim/solver/screen.h"

namespace strata {

/// What is searched.
struct SimulatedSpace {
  const CostTables& tables;  ///< Eq. 1 of the choices that are looked at
  const Screened* screened;  ///< which of the space's choices those are; null: all
  const SearchSpace& space;
};

/// `starts`: what to start from besides the discounts' optima, the fastest of which are never lost;
/// choices of the tables, as those of the answer. What is not simulated, or does not fit in memory,
/// is not allowed. Where `options` ask for one strategy alone, the others of the answer may not
/// fit.
Refinement search_simulated(const SimulatedSpace& space, const std::vector<Choices>& starts,
                            const StepBound& bound, Scores& scores, const SolveOptions& options,
                            const SolveLimits& limits);

}  // namespace strata
