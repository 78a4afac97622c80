#pragma once

// Search under another measure than the tables': the simulated step time, which overlaps what
// Eq. 1 adds up. No such measure decomposes, so this is a local search: from strategies that are
// good under Eq. 1 or by tradition, by moves that Eq. 1 thinks little of losing. Never worse than
// where it starts. What it finds depends on the tables, the starts and the number of evaluations
// alone: neither on threads nor on time, unless a limit stops it.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// The seconds of a strategy; kInfinity where it is not allowed. Called from several threads.
using Evaluate = std::function<double(const Choices&)>;

struct RefineOptions {
  std::size_t evaluations = 200;      ///< at most, but every start is evaluated
  std::vector<std::uint32_t> shapes;  ///< by variable; those with equal numbers have equal choices
  /// If given, what choices cannot be better than: where that reaches the best known, they are not
  /// evaluated.
  Evaluate lower_bound = {};
  /// Nothing is evaluated once the best known takes no more.
  double enough = 0;
};

struct Evaluated {
  Choices choices;
  double seconds = kInfinity;
  bool operator==(const Evaluated&) const = default;
};

struct Refinement {
  std::vector<Evaluated> best;  ///< all that was evaluated and is allowed, the best first
  std::size_t evaluations = 0;
  bool stopped = false;  ///< by a limit of `limits`
};

/// Evaluates the starts, then moves from the best of them for as long as that helps: one variable,
/// a run of neighbours that have equal choices and make the same one, or a stretch of another
/// start. The moves that cost least under the tables come first, a batch at a time.
Refinement refine(const CostTables& tables, std::span<const Choices> starts,
                  const Evaluate& evaluate, const RefineOptions& options,
                  const SolveLimits& limits = {});

}  // namespace strata
