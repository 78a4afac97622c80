#include "gui/models/search_settings.h"

#include <tuple>

namespace strata::gui {
namespace {

auto all_of_space(const SearchOptions& space) {
  return std::tuple(space.degrees, space.free_elementwise, space.host_placement, space.reductions);
}

}  // namespace

bool SearchSettings::operator==(const SearchSettings& other) const {
  const auto rest = [](const SearchSettings& all) {
    return std::tuple(all.objective, all.algorithm, all.memory_limit, all.k_best, all.evaluations,
                      all.gap, all.time_limit, all.threads, all.no_simulation);
  };
  return rest(*this) == rest(other) && all_of_space(space) == all_of_space(other.space);
}

Objective objective_of(const SearchSettings& search) {
  const bool simulates = !search.no_simulation && search.algorithm == SearchAlgorithm::elimination;
  return search.objective.value_or(simulates ? Objective::simulated : Objective::eq1);
}

SolveOptions solve_options(const SearchSettings& search, Objective objective) {
  SolveOptions options;
  options.space = search.space;
  options.algorithm = search.algorithm;
  options.objective = objective;
  options.k_best = static_cast<std::size_t>(search.k_best);
  options.memory_limit = search.memory_limit;
  options.simulate = !search.no_simulation;
  if (search.evaluations) options.evaluations = static_cast<std::size_t>(*search.evaluations);
  options.gap = search.gap;
  if (search.time_limit) options.limits.time_limit = *search.time_limit;
  if (search.threads) options.limits.threads = static_cast<unsigned>(*search.threads);
  return options;
}

// A limit of memory may forbid what the usual search allows; degrees of another set may leave out
// its own.
bool covers_usual_space(const SearchSettings& search) {
  const bool degrees = !search.space.degrees || *search.space.degrees == DegreeSet::all;
  return degrees && !search.memory_limit && search.space.reductions != ReductionCuts::none;
}

}  // namespace strata::gui
