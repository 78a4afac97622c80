#pragma once

// The search under a limit on the simulated peak of memory. That peak is no sum over layers, so
// the solver searches under the sum that bounds it from below (memory_floor.h), whose optimum
// bounds the answer from below; strategies whose peak is above the limit all the same are passed
// over, and the limit on the sum is lowered until one fits.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.h"
#include "sim/search/memory_floor.h"
#include "sim/search/solve.h"
#include "sim/solver/memory_limit.h"

namespace strata {

struct WithinMemory {
  std::vector<Solution> best;  ///< that fit, by cost; empty where none was found
  double lower_bound = 0;      ///< on all that fit
  Bytes least;                 ///< proved: no strategy has a lower peak
};

/// The simulated peak of a strategy; kAnyMemory where it is not known.
using PeakMemory = std::function<Bytes(const Choices&)>;

WithinMemory within_memory(const CostTables& tables,
                           const std::vector<std::vector<std::int64_t>>& floor, Bytes limit,
                           std::span<const Choices> known, std::size_t k_best,
                           const PeakMemory& peak, const SolveLimits& limits = {});

/// Why a search found no strategy:
/// "lenet5 on p100-1x2: no strategy within `memory_limit` 1024 (1.02 kB), proved: each needs at
/// least 1.29 MB a device; the nearest of those that were tried is data, which needs 1.4 MB".
/// Without a limit, within what the devices have.
std::string none_found(const Case& input, const Solved& solved, std::optional<Bytes> limit);

}  // namespace strata
