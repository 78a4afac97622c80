#pragma once

// Search under another measure than the tables': the simulated step time, which overlaps what
// Eq. 1 adds up. No such measure decomposes, so this is a local search: from strategies that are
// good under Eq. 1 or by tradition, by moves that Eq. 1 thinks little of losing. Never worse than
// where it starts. What it finds depends on the tables, the starts and the number of evaluations
// alone: neither on threads nor on time, unless a limit stops it.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/solver/neighbourhood.h"
#include "sim/solver/solution.h"
#include "sim/solver/step_estimate.h"

namespace strata {

/// The seconds of a strategy; kInfinity where it is not allowed. Called from several threads. May
/// throw Cancelled once the limits' flag is set: then the strategy counts as not evaluated.
using Evaluate = std::function<double(const Choices&)>;

struct RefineOptions {
  std::size_t evaluations = 200;  ///< at most, but every start is evaluated
  ChoiceKinds kinds;
  /// If given, what choices cannot be better than: where that reaches the best known, they are not
  /// evaluated.
  Evaluate lower_bound = {};
  /// If given, every other batch holds the moves that it thinks the fastest.
  std::optional<StepEstimate> estimate = {};
  /// If given, asked between batches with the seconds of the best known: whether to end.
  std::function<bool(double)> done = {};
  double least = 0;  ///< that nothing takes less than: shown as progress
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

/// Evaluates the starts, goes down from the fastest of them by one move after another
/// (neighbourhood.h), and looks around where that ends. The moves that cost least come first, a
/// batch at a time: under each of the `rankings` in turn, of which there is one at least. In every
/// other batch those that the estimate, if there is one, thinks the fastest: from the fastest
/// strategy, and from others that are fast and not near.
Refinement refine(std::span<const CostTables> rankings, std::span<const Choices> starts,
                  const Evaluate& evaluate, const RefineOptions& options,
                  const SolveLimits& limits = {});

}  // namespace strata
