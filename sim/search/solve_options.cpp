// What a search may be asked, what its answers are called, and what it is held against.

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

constexpr std::string_view kNameUnderEq1 = "eq1", kNameUnderSimulation = "optimal";

}  // namespace

void check(const SolveOptions& options) {
  if (!options.simulate && (options.memory_limit || options.objective != Objective::eq1)) {
    throw InputError(
        "`no_simulation` gives Eq. 1 alone; allowed: `objective` eq1, no `memory_limit`");
  }
  if (options.gap >= 1) {
    throw InputError(fmt::format(
        "`gap` {}: a part of the step; allowed: a number from 0 to below 1", options.gap));
  }
  if (options.algorithm != SearchAlgorithm::dfs) return;
  if (options.memory_limit || options.k_best > 1 || options.objective != Objective::eq1) {
    throw InputError(
        "`algorithm` dfs finds one strategy under Eq. 1; allowed: `objective` eq1, no "
        "`memory_limit`, no `k_best`");
  }
}

std::vector<Strategy> baselines(const Case& input) {
  const int devices = static_cast<int>(input.cluster.device_count());
  return {data_parallel(input.graph, devices), model_parallel(input.graph, devices),
          owt_parallel(input.graph, devices)};
}

Seconds Solved::least() const {
  const Scored& first = best.front();
  if (objective == Objective::eq1) return first.eq1;
  return first.simulated() ? first.step : Seconds{kInfinity};
}

std::string_view searched_name(Objective objective) {
  return objective == Objective::eq1 ? kNameUnderEq1 : kNameUnderSimulation;
}

std::optional<Objective> searched_objective(std::string_view strategy) {
  if (strategy == kNameUnderEq1) return Objective::eq1;
  if (strategy == kNameUnderSimulation) return Objective::simulated;
  return std::nullopt;
}

}  // namespace strata
