#pragma once

// What `strata solve` says of what it found.

#include <string>

#include "sim/json/solve_json.h"
#include "sim/search/solve.h"

namespace strata {

/// The strategy as the paper's Table 5 shows one: a row for each run of layers of equal config.
std::string grouped_table(const Graph& graph, const Strategy& strategy);

/// The strategies found beside the usual ones.
std::string comparison_table(const Case& input, const Solved& solved);

/// What is proved: "optimal under Eq. 1, proved: ...", or how far it may be from it.
std::string proof_text(const Solved& solved, const SolveNames& names);

/// The size of the search, and how long it took.
std::string effort_text(const Solved& solved);

}  // namespace strata
