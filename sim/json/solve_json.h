#pragma once

// Makes JSON of a search. Pure; thread-safe.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/ask/request.h"
#include "sim/search/solve.h"

namespace strata {

/// The settings that the answer depends on, as text.
struct SolveNames {
  std::string degrees, objective, algorithm;
  std::vector<std::string> kept = {};  ///< layers
  bool interrupted = false;            ///< else what stopped was stopped by the time limit
};

SolveNames solve_names(const SolveRequest& request, const Case& input, bool was_interrupted);

/// Precondition: something was found.
nlohmann::ordered_json solved_json(const Case& input, const SolveNames& names,
                                   const Solved& solved);

}  // namespace strata
