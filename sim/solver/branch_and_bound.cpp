#include "sim/solver/branch_and_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/solver/elimination.h"
#include "sim/solver/restriction.h"

namespace strata {
namespace {

constexpr std::size_t kPartsPerReport = 16;

class Search {
 public:
  Search(BestKnown& known, const BranchOptions& options, const SolveLimits& limits)
      : known_(known), options_(options), limits_(limits) {
    ascent_.most_sweeps = options.sweeps;
    ascent_.patience = 3;
    ascent_.least_gain = 0.05;
    ascent_.deadline = options.deadline;
    ascent_.below_limit = true;
  }

  BranchResult run(Subproblem root) {
    add(std::move(root));
    while (!open_.empty() && !out_of_time() && result_.parts < options_.most_parts) {
      if (lower_bound() >= known_.limit()) break;
      dive(take());
      if (++result_.parts % kPartsPerReport == 0) report();
    }
    result_.complete = open_.empty() || lower_bound() >= known_.limit();
    result_.lower_bound = std::min(lower_bound(), first_limit());
    return result_;
  }

 private:
  /// Nothing that costs more is the best: with one strategy asked for, known_.limit().
  double first_limit() const {
    if (known_.best().empty()) return kInfinity;
    const PricedMemory* const memory = known_.memory();
    return known_.best_seconds() + (memory == nullptr ? 0 : memory->penalty_of_limit);
  }
  double lower_bound() const { return open_.empty() ? kInfinity : open_.begin()->first; }
  bool out_of_time() const {
    return is_set(limits_.cancelled) || steady_seconds() > options_.deadline;
  }
  void report() const {
    if (!limits_.progress) return;
    limits_.progress(
        {"branch and bound", -1, known_.best_seconds(), std::min(lower_bound(), first_limit())});
  }

  void add(Subproblem part) {
    const double bound = part.bound.lower_bound();
    if (bound >= known_.limit()) return;
    bytes_ += part.bound.bytes();
    std::size_t& parts = parts_of_[&part.model()];
    if (++parts == 1) bytes_ += part.model().tables().bytes();
    open_.emplace(bound, std::move(part));
  }
  /// The part with the least bound; when memory is short, the one with the most: it closes soonest.
  Subproblem take() {
    const auto at = bytes_ < limits_.table_bytes ? open_.begin() : std::prev(open_.end());
    Subproblem part = std::move(at->second);
    open_.erase(at);
    bytes_ -= part.bound.bytes();
    const auto model = parts_of_.find(&part.model());
    if (--model->second == 0) {
      bytes_ -= part.model().tables().bytes();
      parts_of_.erase(model);
    }
    return part;
  }

  /// Down from this part, the other halves kept for later. Cut short, the part goes back.
  void dive(Subproblem part) {
    while (true) {
      drop_too_large(part);
      ascend(part, known_, ascent_, limits_);
      if (part.bound.lower_bound() >= known_.limit()) return;
      if (out_of_time()) return add(std::move(part));
      if (compact(part) && eliminated(part)) return;
      const std::optional<std::uint32_t> v = branching_variable(part);
      if (!v) return;
      const std::uint32_t choice = part.bound.decoded()[*v];
      Subproblem rest = part;
      rest.bound.drop(*v, choice);
      add(std::move(rest));
      part.bound.fix(*v, choice);
    }
  }

  /// Drops choices that fit in memory with no others.
  void drop_too_large(Subproblem& part) const {
    const PricedMemory* const memory = known_.memory();
    if (memory == nullptr) return;
    const std::vector<Choices> left = part.bound.choices();
    const auto bytes = [&](std::size_t v, std::uint32_t c) {
      return (*memory->bytes)[v][(*part.names)[v][c]];
    };
    std::vector<std::int64_t> least(left.size());
    std::int64_t slack = memory->limit;
    for (std::size_t v = 0; v < left.size(); ++v) {
      least[v] = std::numeric_limits<std::int64_t>::max();
      for (const std::uint32_t c : left[v]) least[v] = std::min(least[v], bytes(v, c));
      slack -= left[v].empty() ? 0 : least[v];
    }
    for (std::uint32_t v = 0; v < left.size(); ++v) {
      for (const std::uint32_t c : left[v]) {
        if (bytes(v, c) - least[v] > slack) part.bound.drop(v, c);
      }
    }
  }

  /// Renumbers what is left once a third is gone; true if it did.
  static bool compact(Subproblem& part) {
    std::size_t left = 0;
    for (std::uint32_t v = 0; v < part.model().size(); ++v) left += part.bound.alive(v);
    if (3 * left > 2 * part.model().first_choice(part.model().size())) return false;
    const Choices decoded = part.bound.decoded();
    part.compact();
    part.bound.sweep(kInfinity);  // decodes anew, in the new numbers
    return true;
  }

  /// Closes the part by elimination where that is cheap. With a memory limit the optimum of the
  /// part says nothing of what fits.
  bool eliminated(const Subproblem& part) {
    if (known_.memory() != nullptr) return false;
    const CostTables& tables = part.model().tables();
    const EliminationPlan plan = plan_elimination(tables);
    if (plan.operations > options_.leaf_operations) return false;
    if (plan.table_bytes > static_cast<double>(limits_.table_bytes)) return false;
    try {
      for (const Solution& found : k_best(tables, plan, known_.count(), limits_)) {
        known_.offer(renamed(*part.names, found.choices), found.seconds);
      }
      return true;
    } catch (const Cancelled&) {
      return false;
    }
  }

  static std::optional<std::uint32_t> branching_variable(const Subproblem& part) {
    std::optional<std::uint32_t> best;
    double most = -1;
    for (std::uint32_t v = 0; v < part.model().size(); ++v) {
      if (part.bound.alive(v) < 2) continue;
      const double excess = part.bound.excess(v, part.bound.decoded());
      if (excess <= most) continue;
      most = excess;
      best = v;
    }
    return best;
  }

  BestKnown& known_;
  const BranchOptions& options_;
  const SolveLimits& limits_;
  AscentOptions ascent_;
  std::multimap<double, Subproblem> open_;
  std::size_t bytes_ = 0;  // of the open parts, and of the tables that they share
  std::map<const PairwiseModel*, std::size_t> parts_of_;  // open ones of each model
  BranchResult result_;
};

}  // namespace

BranchResult branch_and_bound(Subproblem root, BestKnown& known, const BranchOptions& options,
                              const SolveLimits& limits) {
  return Search(known, options, limits).run(std::move(root));
}

}  // namespace strata
