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

/// A bound on the choices that are left, which may be numbered anew.
struct Subproblem {
  DualBound bound;
  std::shared_ptr<const std::vector<Choices>> names;  ///< by variable: the choices' first names

  explicit Subproblem(const CostTables& tables);
  const PairwiseModel& model() const { return bound.model(); }
  /// Forgets the choices that were dropped. Precondition: every variable has one left.
  void compact();
};

struct AscentOptions {
  int most_sweeps = 200;
  /// Stops when this many sweeps together raised the bound by less than `least_gain` of the gap.
  int patience = 5;
  double least_gain = 0.02;
  bool below_limit = false;  ///< only strategies that are cheaper than the k-th best known matter
  double most_additions = kInfinity;  ///< two per table entry and sweep
  double deadline = kInfinity;        ///< on steady_seconds()
};

/// Seconds of a clock that only goes forward.
double steady_seconds();

/// Sweeps, offering what they decode, until the bound meets the k-th best known, stays, or the
/// options say so.
void ascend(Subproblem& problem, BestKnown& known, const AscentOptions& options,
            const SolveLimits& limits);

/// Drops dominated choices among those that are left; returns how many.
/// `some`: a strategy, the likelier to be the best the faster.
std::size_t drop_dominated(DualBound& bound, const Choices& some, const SolveLimits& limits);

}  // namespace strata
