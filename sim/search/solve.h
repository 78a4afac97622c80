#pragma once

// The search as a study: the fastest strategy for a Case that its devices have the memory for, what
// is proved about it, and the usual strategies beside it. What `strata solve`, `explain`, `diff`
// and the strategies `optimal` and `eq1` call. Thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/case/predict.h"
#include "sim/scenario/settings.h"
#include "sim/search/score.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Layers that a search leaves as a strategy cuts them (keep.h).
struct KeptLayers {
  Strategy strategy;
  std::vector<LayerId> layers;
};

/// Relative: steps that differ by less are equal but for rounding.
inline constexpr double kEqualSteps = 1e-6;

struct SolveOptions {
  SearchOptions space;
  KeptLayers kept;  ///< no layers: the search decides for all
  SearchAlgorithm algorithm = SearchAlgorithm::elimination;
  Objective objective = Objective::simulated;
  std::size_t k_best = 1;
  /// On the simulated peak of every device; without it, what the device has.
  std::optional<Bytes> memory_limit;
  /// Without, strategies have Eq. 1 alone, and need what memory they like.
  bool simulate = true;
  /// Simulations for Objective::simulated, at most; without it, twice as many as all layers
  /// together have choices, 200 to 2000, or fewer where they take long.
  std::optional<std::size_t> evaluations;
  double gap = 0;      ///< of Objective::simulated: enough is proved, so it stops
  SolveLimits limits;  ///< its time limit counts the tables, too
};

struct Solved {
  /// At most k_best, by the objective; empty where none was found. Under simulation each was
  /// simulated; under a limit of memory each is known to fit.
  std::vector<Scored> best;
  std::vector<Scored> baselines;  ///< what there was no time for has no step, or no Eq. 1
  std::optional<Scored> nearest;  ///< of what was simulated and does not fit: of the lowest peak
  Objective objective = Objective::simulated;
  Seconds lower_bound;         ///< of the objective, for every strategy of the space (that fits)
  bool optimal = false;        ///< proved for the objective over the space
  bool outside = false;        ///< the best is a strategy that the space does not hold
  bool by_rule = false;        ///< and that no space holds: it has stages or computes layers again
  bool alone = false;          ///< and no strategy of the space was found that fits
  bool rounds_differ = false;  ///< under Eq. 1: with micro-batches nothing is proved
  bool stopped = false;        ///< by the time limit, or called off
  bool no_tables = false;      ///< these were too large: only the usual strategies were tried
  std::size_t variables = 0;   ///< of the search
  std::size_t final_nodes = 0;
  std::size_t max_configs = 0;
  std::size_t configs = 0;            ///< of all variables
  std::size_t pruned = 0, width = 0;  ///< see SolveResult
  std::size_t evaluations = 0;        ///< simulations made by the refinement
  Bytes least_memory;                 ///< where memory binds, proved: no strategy has a lower peak
  double log10_strategies = 0;
  double table_seconds = 0, solve_seconds = 0, refine_seconds = 0;  ///< wall time

  /// What the best takes by the objective.
  Seconds least() const;
  /// How far that may be from the optimum, relative to it.
  double gap() const { return (least() - lower_bound) / least(); }
};

/// Throws InputError where layers cannot be kept or, under Eq. 1, where the cost tables would not
/// fit in memory. Needs a few GB at most: 2 GB for the cost tables, 1 GB for what the solver makes
/// of them, and what simulations take.
Solved solve(const Case& input, const SolveOptions& options = {});

/// Throws InputError for options that do not go together.
void check(const SolveOptions& options);

/// `eq1` or `optimal`.
std::string_view searched_name(Objective objective);
/// What a strategy of this name is searched for by: `eq1`, or `optimal` by the simulated step.
std::optional<Objective> searched_objective(std::string_view strategy);

/// What a name like `optimal` stands for.
struct Searched {
  Strategy strategy;
  std::string none_fits;  ///< none_found() of within_memory.h; empty where it fits
};

/// The first of solve()'s best, by the name of searched_objective(). Where none was found that fits
/// in memory, the nearest of those that were simulated. Throws InputError where none was, and
/// Cancelled where it is called off.
Searched search_for_best(const Case& input, const SolveOptions& options);
Strategy best_strategy(const Case& input, const SolveOptions& options);

/// The strategies of Section 6, in this order: data, model, owt.
std::vector<Strategy> baselines(const Case& input);

}  // namespace strata
