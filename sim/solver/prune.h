#pragma once

// Choices that provably need not be looked at, and the smaller problem without them. Two proofs:
//  * bound: every strategy that makes the choice costs more than the k-th best one known;
//  * dominance: another choice of the same variable is never worse, whatever the neighbours choose.
//    Of two that are equal the lower number stays, so the lexicographically first optimum is never
//    lost. It says nothing about the second best: only where one strategy is asked for.

#include "sim/solver/best_known.h"
#include "sim/solver/bound.h"
#include "sim/solver/restriction.h"

namespace strata {

struct AscentOptions {
  int most_sweeps = 200;
  /// Stops when this many sweeps together raised the bound by less than `least_gain` of the gap.
  int patience = 5;
  double least_gain = 0.02;
  double most_additions = kInfinity;  ///< two per table entry and sweep
  double deadline = kInfinity;        ///< on steady_seconds()
};

/// Seconds of a clock that only goes forward.
double steady_seconds();

/// Sweeps, offering what they decode, until the bound meets the k-th best known, stays, or the
/// options say so.
void ascend(DualBound& bound, BestKnown& known, const AscentOptions& options,
            const SolveLimits& limits);

/// Drops dominated choices among those that are left; returns how many.
std::size_t drop_dominated(DualBound& bound, const Choices& best, const SolveLimits& limits);

}  // namespace strata
