#pragma once

// What `strata solve` says of what it found.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/ask/ask.h"

namespace strata {

/// The options that the answer depends on, by name.
struct SolveNames {
  std::string degrees, objective, algorithm;
  std::vector<std::string> kept = {};  ///< layers
  bool interrupted = false;            ///< else what stopped was stopped by the time limit
};

SolveNames solve_names(const SolveRequest& request, const Case& input, bool was_interrupted);

nlohmann::ordered_json solved_json(const Case& input, const SolveNames& names,
                                   const Solved& solved);

/// The strategy as the paper's Table 5 shows one: a row for each run of layers of equal config.
std::string grouped_table(const Graph& graph, const Strategy& strategy);

/// The strategies found beside the usual ones.
std::string comparison_table(const Case& input, const Solved& solved);

/// What is proved: "optimal under Eq. 1, proved: ...", or how far it may be from it.
std::string proof_text(const Solved& solved, const SolveNames& names);

/// The size of the search, and how long it took.
std::string effort_text(const Solved& solved);

}  // namespace strata
