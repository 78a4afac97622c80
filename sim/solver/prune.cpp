#include "sim/solver/prune.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "sim/base/cancel.h"

namespace strata {
namespace {

/// Whether one choice of a variable is dominated by another.
class Dominance {
 public:
  Dominance(const DualBound& bound, const std::vector<Choices>& left, std::uint32_t v,
            const Choices& best)
      : model_(bound.model()), left_(left), v_(v), best_(best) {
    model_.local_costs(v, best, local_);
  }

  /// Whether `other` is never worse than `choice`, whatever the neighbours choose of what is left
  /// to them. At the neighbours' best choices `other` costs local_[other] - local_[choice] more;
  /// each edge in turn replaces its part of that by the worst case, which is no less: above 0 at
  /// any time is above 0 at the end.
  bool dominates(std::uint32_t other, std::uint32_t choice) const {
    if (local_[other] == kInfinity || local_[choice] == kInfinity) return false;
    double worse = local_[other] - local_[choice];
    if (fails(worse, other, choice)) return false;
    for (const Incidence& incidence : model_.incident(v_)) {
      const std::uint32_t there = best_[incidence.other];
      worse -= model_.entry(incidence, other, there) - model_.entry(incidence, choice, there);
      worse += most_worse(incidence, other, choice, -worse);
      if (worse == -kInfinity) return true;  // `choice` meets nothing that is left
      if (fails(worse, other, choice)) return false;
    }
    return true;
  }

 private:
  static bool fails(double worse, std::uint32_t other, std::uint32_t choice) {
    return worse > 0 || (worse == 0 && other > choice);
  }

  /// The most that `other` costs beyond `choice` on this edge; anything above `enough` will do.
  double most_worse(const Incidence& incidence, std::uint32_t other, std::uint32_t choice,
                    double enough) const {
    double most = -kInfinity;
    for (const std::uint32_t y : left_[incidence.other]) {
      const double forgone = model_.entry(incidence, choice, y);
      if (forgone == kInfinity) continue;
      most = std::max(most, model_.entry(incidence, other, y) - forgone);
      if (most > enough) return most;
    }
    return most;
  }

  const PairwiseModel& model_;
  const std::vector<Choices>& left_;
  std::uint32_t v_;
  const Choices& best_;
  std::vector<double> local_;
};

}  // namespace

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Subproblem::Subproblem(const CostTables& tables)
    : bound(std::make_shared<const PairwiseModel>(tables)) {
  std::vector<Choices> own(tables.variables.size());
  for (std::size_t v = 0; v < own.size(); ++v) {
    own[v].resize(tables.variables[v]->size());
    std::iota(own[v].begin(), own[v].end(), 0u);
  }
  names = std::make_shared<const std::vector<Choices>>(std::move(own));
}

void Subproblem::compact() {
  const Restriction part = restrict_choices(model().tables(), bound.choices());
  std::vector<Choices> renaming(part.kept.size());
  for (std::size_t v = 0; v < renaming.size(); ++v) {
    for (const std::uint32_t c : part.kept[v]) renaming[v].push_back((*names)[v][c]);
  }
  bound = bound.restricted(std::make_shared<const PairwiseModel>(part.tables), part.kept);
  names = std::make_shared<const std::vector<Choices>>(std::move(renaming));
}

void ascend(Subproblem& problem, BestKnown& known, const AscentOptions& options,
            const SolveLimits& limits) {
  DualBound& bound = problem.bound;
  const double step = options.below_limit ? problem.model().tables().quantum : 0;
  double marked = bound.lower_bound();
  for (int sweep = 1; sweep <= options.most_sweeps; ++sweep) {
    if (bound.lower_bound() >= known.limit() || is_set(limits.cancelled)) return;
    bound.sweep(known.limit() - step, limits);
    if (bound.lower_bound() == kInfinity || is_set(limits.cancelled)) return;
    offer_descent(bound.model(), *problem.names, bound.decoded(), known);
    if (2 * bound.model().entries() * sweep > options.most_additions) return;
    if (steady_seconds() > options.deadline) return;
    if (sweep % options.patience != 0) continue;
    const double gap = known.limit() - marked;
    if (bound.lower_bound() - marked < options.least_gain * gap) return;
    marked = bound.lower_bound();
  }
}

std::size_t drop_dominated(DualBound& bound, const Choices& some, const SolveLimits& limits) {
  std::vector<Choices> left = bound.choices();
  std::size_t dropped = 0;
  for (std::uint32_t v = 0; v < left.size(); ++v) {
    const Dominance dominance(bound, left, v, some);
    const Choices before = left[v];
    for (const std::uint32_t choice : before) {
      if (is_set(limits.cancelled)) return dropped;
      const bool goes = std::any_of(left[v].begin(), left[v].end(), [&](std::uint32_t other) {
        return other != choice && dominance.dominates(other, choice);
      });
      if (!goes) continue;
      left[v].erase(std::lower_bound(left[v].begin(), left[v].end(), choice));
      bound.drop(v, choice);
      ++dropped;
    }
  }
  return dropped;
}

}  // namespace strata
