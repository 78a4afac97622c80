#pragma once

// What every search over CostTables takes and gives.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "sim/cost/cost_tables.h"

namespace strata {

/// The choice of each variable, an index into its choices.
using Choices = std::vector<std::uint32_t>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A choice for every variable, and what is proved about it.
struct Solution {
  Choices choices;             ///< empty where none was found
  double seconds = kInfinity;  ///< under the tables, exact
  double lower_bound = 0;      ///< no choices cost less
  bool found() const { return !choices.empty(); }
  bool optimal() const { return found() && lower_bound >= seconds; }
  /// How far from the optimum it may be at most, relative to it.
  double gap() const { return found() ? (seconds - lower_bound) / seconds : kInfinity; }
};

struct SolveProgress {
  std::string_view stage;   ///< "cost tables", "elimination", "branch and bound", ...
  double done = 0;          ///< of the stage, 0 to 1; negative where unknown
  double best = kInfinity;  ///< of what is searched for; kInfinity where nothing was found yet
  double lower_bound = 0;   ///< of the same; 0 where nothing is proved
};

/// What a search may use, and whom it tells. A search that is cancelled or out of time returns the
/// best it has and the bound that it has proved.
struct SolveLimits {
  double time_limit = kInfinity;                   ///< seconds of wall time
  std::size_t table_bytes = std::size_t{3} << 30;  ///< for tables that the search makes
  /// That branch and bound looks at, each time.
  std::size_t most_parts = std::numeric_limits<std::size_t>::max();
  unsigned threads = 0;  ///< 0: all cores; the result never depends on it
  const std::atomic<bool>* cancelled = nullptr;
  std::function<void(const SolveProgress&)> progress;  ///< called from one thread at a time
};

}  // namespace strata
