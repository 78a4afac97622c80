#pragma once

// Exact search where elimination is too wide: take the part of the space with the least bound,
// raise its bound by dual ascent, drop choices; close it once the bound meets the best known or
// elimination of what is left is cheap, else split it in two at the variable on which the bound and
// its own decoding disagree the most. Follows the promising half down first, so that good
// strategies are found early.

#include <cstddef>
#include <limits>

#include "sim/solver/prune.h"

namespace strata {

struct BranchOptions {
  double leaf_operations = 2e7;  ///< of an elimination that closes a part
  int sweeps = 12;               ///< at most, for every part
  double deadline = kInfinity;   ///< on steady_seconds()
  std::size_t most_parts = std::numeric_limits<std::size_t>::max();
};

struct BranchResult {
  double lower_bound = 0;  ///< on the first of the k best
  std::size_t parts = 0;   ///< looked at
  bool complete = false;   ///< nothing is left that is cheaper than the k-th best known
};

/// Searches `root` for strategies that are cheaper than the k-th best known.
BranchResult branch_and_bound(Subproblem root, BestKnown& known, const BranchOptions& options,
                              const SolveLimits& limits);

}  // namespace strata
