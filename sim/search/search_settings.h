#pragma once

// What a search considers, by what, and for how long, as a user says it: the settings of
// `strata solve` that are not of the case. Value; pure functions.

#include <cstddef>
#include <optional>

#include "sim/search/solve.h"

namespace strata {

struct SearchSettings {
  std::optional<Objective> objective = {};  ///< else what the algorithm can search by
  SearchAlgorithm algorithm = SearchAlgorithm::elimination;
  std::optional<Bytes> memory_limit = {};
  SearchOptions space = {};
  std::size_t k_best = 1;
  std::optional<std::size_t> evaluations = {};
  double gap = 0;
  std::optional<double> time_limit = {};  ///< seconds
  std::optional<unsigned> threads = {};   ///< without it, all cores
  bool no_simulation = false;

  bool operator==(const SearchSettings& other) const = default;
};

/// The chosen objective, or the usual one: Eq. 1 where nothing is to be simulated.
Objective objective_of(const SearchSettings& search);
/// For a search by this objective. Limits that are no settings, and kept layers, are left empty.
SolveOptions solve_options(const SearchSettings& search, Objective objective);
/// Whether a bound that such a search proves holds for the strategies of the usual search, too.
bool covers_usual_space(const SearchSettings& search);

}  // namespace strata
