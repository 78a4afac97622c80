#pragma once

// The search under a limit of memory: least cost among the strategies whose bytes, the sum of one
// number per choice, are within it. By Lagrange: a price per byte makes bytes into seconds, any
// price gives a bound by a search without the limit, and the best price comes from the cheapest
// strategy that fits and the cheapest that does not (Handler and Zang, "A dual algorithm for the
// constrained shortest path problem", Networks 1980). What gap is left, branch and bound closes, or
// it is stated.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/solver/solve.h"

namespace strata {

struct MemoryResult {
  std::vector<Solution> best;    ///< the k best that fit, the first at the head
  double lower_bound = 0;        ///< on the first; infinite where nothing fits
  std::int64_t bytes = 0;        ///< of the first
  std::int64_t least_bytes = 0;  ///< of any strategy: below it nothing fits
  double seconds_per_byte = 0;   ///< what a byte more would save at most, near this limit
  bool fits() const { return !best.empty(); }
};

/// `memory`: bytes by variable and choice, not negative, their sum well within 2^53. `known`:
/// strategies to start from, whether they fit or not. `limits.time_limit` is for all of it.
MemoryResult solve_within(const CostTables& tables,
                          const std::vector<std::vector<std::int64_t>>& memory, std::int64_t limit,
                          std::span<const Choices> known, std::size_t k_best = 1,
                          const SolveLimits& limits = {});

}  // namespace strata
