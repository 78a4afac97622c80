#include "sim/search/search_settings.h"

namespace strata {

Objective objective_of(const SearchSettings& search) {
  const bool simulates = !search.no_simulation && search.algorithm == SearchAlgorithm::elimination;
  return search.objective.value_or(simulates ? Objective::simulated : Objective::eq1);
}

SolveOptions solve_options(const SearchSettings& search, Objective objective) {
  SolveOptions options;
  options.space = search.space;
  options.algorithm = search.algorithm;
  options.objective = objective;
  options.k_best = search.k_best;
  options.memory_limit = search.memory_limit;
  options.simulate = !search.no_simulation;
  options.evaluations = search.evaluations;
  options.gap = search.gap;
  if (search.time_limit) options.limits.time_limit = *search.time_limit;
  if (search.threads) options.limits.threads = *search.threads;
  return options;
}

// A limit of memory may forbid what the usual search allows; degrees of another set may leave out
// its own.
bool covers_usual_space(const SearchSettings& search) {
  const bool degrees = !search.space.degrees || *search.space.degrees == DegreeSet::all;
  return degrees && !search.memory_limit && search.space.reductions != ReductionCuts::none;
}

}  // namespace strata
