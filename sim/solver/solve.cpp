#include "sim/solver/solve.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/solver/branch_and_bound.h"
#include "sim/solver/restriction.h"

namespace strata {
namespace {

/// An elimination of fewer additions (half a millisecond) is not worth a bound first. With more,
/// a sweep or two mostly prove the optimum before an elimination would be done.
constexpr double kAtOnce = 2e6;
/// One of more additions than this (minutes) is left to branch and bound.
constexpr double kMostOperations = 5e11;
/// An addition of the bound waits for memory; so many of the elimination's take as long.
constexpr double kWeightOfBound = 24;
/// One elimination of so many is preferred to a search for every choice.
constexpr double kMostForMarginals = 2e10;
/// Additions per second of an elimination, at the least.
constexpr double kSpeed = 1e9;
/// A bound of so many additions is worth its milliseconds even to one who calls off.
constexpr double kQuickBound = 2e7;

class Solve {
 public:
  Solve(const CostTables& tables, std::span<const Choices> known, std::size_t count,
        const SolveLimits& limits)
      : tables_(tables),
        start_(known),
        known_(std::max<std::size_t>(count, 1)),
        limits_(limits),
        deadline_(limits.time_limit == kInfinity ? kInfinity
                                                 : steady_seconds() + limits.time_limit) {
    for (const Choices& choices : known) known_.offer(choices, tables.seconds(choices));
  }

  SolveResult run() {
    result_.final_nodes = final_nodes(tables_);
    const EliminationPlan plan = plan_elimination(tables_);
    const bool at_once = fits(plan) && plan.operations <= kAtOnce;
    if (!at_once) bound_first(plan);
    if (!done_ && at_once) eliminate_all(tables_, plan, nullptr);
    if (!done_ && !at_once) search();
    return finished();
  }

 private:
  bool fits(const EliminationPlan& plan) const {
    return plan.table_bytes <= static_cast<double>(limits_.table_bytes);
  }
  bool affordable(const EliminationPlan& plan) const {
    const double time_left = deadline_ - steady_seconds();
    return fits(plan) && plan.operations <= std::min(kMostOperations, time_left * kSpeed);
  }
  SolveLimits remaining() const {
    SolveLimits limits = limits_;
    if (deadline_ < kInfinity) limits.time_limit = std::max(0.0, deadline_ - steady_seconds());
    return limits;
  }
  void report(std::string_view stage) const {
    if (limits_.progress) {
      limits_.progress({stage, -1, known_.best_seconds(), result_.lower_bound});
    }
  }

  /// The bound, for at most a part of what it may save.
  void bound_first(const EliminationPlan& plan) {
    report("bound");
    problem_.emplace(tables_);
    for (const Choices& choices : start_) {
      if (is_set(limits_.cancelled)) break;
      offer_descent(problem_->model(), *problem_->names, choices, known_);
    }
    AscentOptions options;
    options.deadline = deadline_;
    options.most_additions = fits(plan) ? plan.operations / kWeightOfBound : kInfinity;
    ascend(*problem_, known_, options, limits_);
    settle();
  }

  /// Takes over what the bound says: nothing left means that the best known is the optimum.
  void settle() {
    const double bound = problem_->bound.lower_bound();
    result_.lower_bound = std::min(bound, known_.best_seconds());
    done_ = bound >= known_.limit() && known_.count() == 1;
    if (done_) result_.method = "bound";
    if (bound == kInfinity || is_set(limits_.cancelled)) return;
    problem_->compact();
    count_pruned();
  }

  void count_pruned() {
    const PairwiseModel& model = problem_->model();
    result_.pruned = count_choices(tables_) - model.first_choice(model.size());
  }

  void search() {
    if (problem_->bound.lower_bound() == kInfinity) return;
    if (is_set(limits_.cancelled)) return;
    EliminationPlan plan = plan_elimination(problem_->model().tables());
    if (!affordable(plan) && known_.count() == 1 && known_.best_seconds() < kInfinity) {
      plan = without_dominated();
    }
    if (affordable(plan)) {
      eliminate_all(problem_->model().tables(), plan, problem_->names.get());
    } else {
      branch();
    }
  }

  EliminationPlan without_dominated() {
    report("dominance");
    const Choices& best = known_.best().front().choices;
    Choices some(best.size());  // it costs no more than the limit, so it is left
    for (std::size_t v = 0; v < best.size(); ++v) {
      const Choices& names = (*problem_->names)[v];
      some[v] = static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), best[v]) -
                                           names.begin());
    }
    if (drop_dominated(problem_->bound, some, limits_) > 0) {
      problem_->compact();
      count_pruned();
    }
    return plan_elimination(problem_->model().tables());
  }

  void eliminate_all(const CostTables& tables, const EliminationPlan& plan,
                     const std::vector<Choices>* names) {
    report("elimination");
    try {
      std::vector<Solution> found;
      if (known_.count() == 1) {
        found.push_back(eliminate(tables, plan, remaining()));
      } else {
        found = k_best(tables, plan, known_.count(), remaining());
      }
      for (const Solution& solution : found) {
        if (!solution.found()) continue;
        known_.offer(names == nullptr ? solution.choices : renamed(*names, solution.choices),
                     solution.seconds);
      }
      result_.width = plan.width;
      result_.method = "elimination";
      done_ = true;
    } catch (const Cancelled&) {
      if (!problem_) bound_quickly();
    }
  }

  /// For one who is out of time: one sweep, or none where that takes long.
  void bound_quickly() {
    problem_.emplace(tables_);
    if (2 * problem_->model().entries() <= kQuickBound) {
      problem_->bound.sweep(known_.limit());
      offer_descent(problem_->model(), *problem_->names, problem_->bound.decoded(), known_);
    }
    result_.lower_bound = std::min(problem_->bound.lower_bound(), known_.best_seconds());
  }

  void branch() {
    report("branch and bound");
    result_.method = "branch and bound";
    BranchOptions options;
    options.deadline = deadline_;
    options.most_parts = limits_.most_parts;
    const BranchResult found = branch_and_bound(std::move(*problem_), known_, options, limits_);
    done_ = found.complete;
    result_.lower_bound = std::max(result_.lower_bound, found.lower_bound);
  }

  SolveResult finished() {
    result_.best = known_.best();
    if (done_ && !result_.best.empty()) result_.lower_bound = result_.best.front().seconds;
    if (done_ && result_.best.empty()) result_.lower_bound = kInfinity;
    for (Solution& solution : result_.best) {
      solution.lower_bound = done_ ? solution.seconds : result_.lower_bound;
    }
    return std::move(result_);
  }

  const CostTables& tables_;
  std::span<const Choices> start_;
  BestKnown known_;
  const SolveLimits& limits_;
  double deadline_;
  std::optional<Subproblem> problem_;
  SolveResult result_;
  bool done_ = false;
};

// The best of the strategies in which `variable` makes `choice`.
double best_with(const CostTables& tables, std::uint32_t variable, std::uint32_t choice,
                 Choices known, const SolveLimits& limits) {
  std::vector<Choices> kept(tables.variables.size());
  for (std::size_t v = 0; v < kept.size(); ++v) {
    kept[v].resize(tables.variables[v]->size());
    std::iota(kept[v].begin(), kept[v].end(), 0u);
  }
  kept[variable] = {choice};
  known[variable] = 0;
  const Restriction part = restrict_choices(tables, std::move(kept));
  const SolveResult found = solve(part.tables, {&known, 1}, 1, limits);
  throw_if_cancelled(limits.cancelled);
  return found.best.empty() ? kInfinity : found.best.front().seconds;
}

}  // namespace

SolveResult solve(const CostTables& tables, std::span<const Choices> known, std::size_t k_best,
                  const SolveLimits& limits) {
  return Solve(tables, known, k_best, limits).run();
}

std::vector<double> counterfactuals(const CostTables& tables, std::uint32_t variable,
                                    const Choices& optimum, const SolveLimits& limits) {
  const EliminationPlan plan = plan_elimination(tables, variable);
  if (plan.table_bytes <= static_cast<double>(limits.table_bytes) &&
      plan.operations <= kMostForMarginals) {
    return min_marginals(tables, variable, limits);
  }
  SolveLimits alone = limits;
  alone.threads = 1;
  alone.progress = nullptr;
  std::vector<double> best(tables.variables[variable]->size());
  parallel_for(best.size(), limits.threads, [&](std::size_t choice, unsigned) {
    best[choice] = best_with(tables, variable, static_cast<std::uint32_t>(choice), optimum, alone);
  });
  return best;
}

}  // namespace strata
