#pragma once

// What a search in the window considers, and for how long: the settings of `strata solve` that are
// not of the case. They are part of the document, so that a change can be undone and is saved. The
// strategies `optimal` and `eq1` are searched by them, too. Value; pure functions.

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "sim/ask/request.h"
#include "sim/search/solve.h"

namespace strata::gui {

struct SearchSettings {
  std::optional<Objective> objective;  ///< else what the algorithm can search by
  SearchAlgorithm algorithm = SearchAlgorithm::elimination;
  std::optional<Bytes> memory_limit;
  SearchOptions space;
  std::int64_t k_best = 1;
  std::optional<std::int64_t> evaluations;
  double gap = 0;
  std::optional<double> time_limit;  ///< seconds
  std::optional<std::int64_t> threads;
  bool no_simulation = false;

  bool operator==(const SearchSettings& other) const;
};

/// Calls visit(key, value) for each of the settings (sim/scenario/settings.h).
template <class Search, class Visit>
requires std::is_same_v<std::remove_const_t<Search>, SearchSettings>
void each_setting(Search& search, const Visit& visit) {
  visit("memory_limit", search.memory_limit);
  each_setting(search.space, visit);
  visit("objective", search.objective);
  visit("algorithm", search.algorithm);
  visit("k_best", search.k_best);
  visit("evaluations", search.evaluations);
  visit("gap", search.gap);
  visit("no_simulation", search.no_simulation);
  visit("time_limit", search.time_limit);
  visit("threads", search.threads);
}

/// The chosen objective, or the usual one: Eq. 1 where nothing is to be simulated.
Objective objective_of(const SearchSettings& search);
/// For a search by this objective. Limits that are no settings, and kept layers, are left empty.
SolveOptions solve_options(const SearchSettings& search, Objective objective);
/// Whether a bound that such a search proves holds for the strategies of the usual search, too.
bool covers_usual_space(const SearchSettings& search);

}  // namespace strata::gui
