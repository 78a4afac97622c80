// The k best strategies. Backwards through an elimination, a strategy that is begun has a known
// best end: what its last choice costs more than the best choice is what any end of it costs more.
// So the k best of the beginnings, taken variable by variable, begin all of the k best strategies.

#include <algorithm>
#include <tuple>

#include "sim/solver/elimination.h"
#include "sim/solver/elimination_run.h"

namespace strata {
namespace {

/// A strategy begun: a beginning of the last round, by its place among them, and one more choice.
struct Beginning {
  double seconds = 0;  ///< of its best end
  std::uint32_t rank = 0;
  std::uint32_t choice = 0;

  bool operator<(const Beginning& other) const {
    return std::tie(seconds, rank, choice) < std::tie(other.seconds, other.rank, other.choice);
  }
};

class Beginnings {
 public:
  Beginnings(const CostTables& tables, double optimum)
      : best_{{Choices(tables.variables.size(), 0), optimum, optimum}} {}

  void choose(const EliminationRun::Step& step, std::size_t choices, std::size_t count) {
    std::vector<Beginning> longer;
    std::vector<double> costs(choices);
    for (std::uint32_t rank = 0; rank < best_.size(); ++rank) {
      sum_costs(step.factors, step.variable, best_[rank].choices, costs);
      const double least = *std::min_element(costs.begin(), costs.end());
      for (std::uint32_t x = 0; x < choices; ++x) {
        if (costs[x] == kInfinity) continue;
        longer.push_back({best_[rank].seconds + (costs[x] - least), rank, x});
      }
      keep(longer, count);
    }
    std::sort(longer.begin(), longer.end(), [](const Beginning& a, const Beginning& b) {
      return std::tie(a.rank, a.choice) < std::tie(b.rank, b.choice);
    });
    extend(longer, step.variable);
  }

  /// By cost.
  std::vector<Solution> take() && {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Solution& a, const Solution& b) { return a.seconds < b.seconds; });
    return std::move(best_);
  }

 private:
  static void keep(std::vector<Beginning>& longer, std::size_t count) {
    if (longer.size() <= count) return;
    std::nth_element(longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(count),
                     longer.end());
    longer.resize(count);
  }

  void extend(const std::vector<Beginning>& longer, std::uint32_t variable) {
    std::vector<Solution> extended;
    for (const Beginning& beginning : longer) {
      Solution next = best_[beginning.rank];
      next.choices[variable] = beginning.choice;
      next.seconds = beginning.seconds;
      extended.push_back(std::move(next));
    }
    best_ = std::move(extended);
  }

  std::vector<Solution> best_;  ///< lexicographically by the choices made, the first made first
};

}  // namespace

std::vector<Solution> k_best(const CostTables& tables, const EliminationPlan& plan,
                             std::size_t count, const SolveLimits& limits) {
  EliminationRun run(tables, plan, limits);
  run.run();
  if (count == 0 || run.constant() == kInfinity) return {};
  Beginnings beginnings(tables, run.constant());
  for (std::size_t i = run.steps().size(); i-- > 0;) {
    const EliminationRun::Step& step = run.steps()[i];
    run.check();
    beginnings.choose(step, tables.variables[step.variable]->size(), count);
  }
  return std::move(beginnings).take();
}

}  // namespace strata
