#include "sim/solver/elimination.h"

#include <algorithm>

#include "sim/solver/elimination_run.h"

namespace strata {

Solution eliminate(const CostTables& tables, const EliminationPlan& plan,
                   const SolveLimits& limits) {
  EliminationRun run(tables, plan, limits);
  run.run();
  if (run.constant() == kInfinity) return {{}, kInfinity, kInfinity};
  Choices choices(tables.variables.size(), 0);
  std::vector<double> costs;
  for (std::size_t i = run.steps().size(); i-- > 0;) {
    const auto& [variable, factors] = run.steps()[i];
    costs.resize(tables.variables[variable]->size());
    sum_costs(factors, variable, choices, costs);
    const auto least = std::min_element(costs.begin(), costs.end());
    choices[variable] = static_cast<std::uint32_t>(least - costs.begin());
  }
  return {std::move(choices), run.constant(), run.constant()};
}

std::vector<double> min_marginals(const CostTables& tables, std::uint32_t variable,
                                  const SolveLimits& limits) {
  const EliminationPlan plan = plan_elimination(tables, variable);
  EliminationRun run(tables, plan, limits);
  run.run();
  return run.costs(variable);
}

}  // namespace strata
