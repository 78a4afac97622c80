#pragma once

// The search for the best strategy under Eq. 1: drop choices that provably no optimum needs,
// eliminate where the width allows, else bound and branch. Exact, or with the gap that is left.

#include <string_view>

#include "sim/solver/elimination.h"
#include "sim/solver/solution.h"

namespace strata {

struct SolveResult {
  std::vector<Solution> best;   ///< the k best, the first at the head; empty if none was found
  double lower_bound = 0;       ///< on the first
  std::size_t final_nodes = 0;  ///< the paper's K
  std::size_t pruned = 0;       ///< choices dropped with proof, over all variables
  std::size_t width = 0;        ///< of the elimination; 0 where there was none
  /// What proved the result: "elimination", "bound" (the dual bound met the best known) or "branch
  /// and bound"; empty where nothing had the time to.
  std::string_view method;
};

/// `known`: strategies to start from (their cost bounds the optimum from above); may be empty. Of
/// strategies that cost the same any may be returned, the same one for equal arguments.
SolveResult solve(const CostTables& tables, std::span<const Choices> known, std::size_t k_best,
                  const SolveLimits& limits = {});

/// For every choice of `variable`, the least cost of a strategy that makes it: by elimination where
/// the width allows that, else by one search a choice. `optimum`: a strategy of least cost, or one
/// that is good.
std::vector<double> counterfactuals(const CostTables& tables, std::uint32_t variable,
                                    const Choices& optimum, const SolveLimits& limits = {});

}  // namespace strata
