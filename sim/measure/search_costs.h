#pragma once

// Costs for a search on real devices, without a profile of the user's: what the search looks at
// and nobody has measured is measured, in parts that are kept one by one (kept_costs.h). Not
// thread-safe, as a Runner is not.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/graph/graph.h"
#include "sim/measure/runner.h"
#include "sim/profile/profile.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Where measured costs are kept, and what is written beside them.
struct CostKeeping {
  std::string folder;   ///< as cost_folder() says it; empty: they are not kept
  std::string machine;  ///< beside the Runner's description: the host, the program's version
  std::string date;     ///< ISO
  std::string command;
  /// All the time that measuring should take, where once of everything takes less.
  Seconds time{20};
  /// What is measured is launched as steps from a recording are, and kept apart from the rest.
  bool recorded = false;
  Optimizer optimizer = Optimizer::sgd;  ///< whose updates are measured
};

/// Where a run's costs come from.
struct CostsUsed {
  std::vector<std::string> files;  ///< profiles that the user gave; the rest is then empty
  std::string folder;              ///< where they are kept, or empty
  std::size_t kept = 0;            ///< rows that the search needs and that were known
  std::size_t measured = 0;        ///< rows that were measured for it
  Seconds took;                    ///< measuring
  std::string oldest, newest;      ///< dates of the kept ones, of whatever network
  std::vector<std::string> warnings;
};

struct SearchCosts {
  Profile profile;  ///< a row for everything that the search looks at, and what else is known
  CostsUsed used;
};

/// Called with the rows that are measured, of how many.
using CostProgress = std::function<void(std::size_t done, std::size_t of)>;

/// Throws Cancelled, when what was measured so far is kept; InputError for devices of several
/// kinds, and the errors of the Runner.
SearchCosts measure_for_search(Runner& runner, const std::string& devices, const Graph& graph,
                               DType dtype, const SearchOptions& space, const CostKeeping& keeping,
                               const std::atomic<bool>* cancelled = nullptr,
                               const CostProgress& progress = {});

}  // namespace strata
