#pragma once

// A lower bound on every strategy's cost, by dual ascent: costs move between the tables, never
// changing the cost of any strategy, so that the least entries of the tables add up to more and
// more (sequential tree-reweighted message passing: Kolmogorov, "Convergent tree-reweighted message
// passing for energy minimization", PAMI 2006). On a tree two sweeps make it the optimum; on any
// graph the bound never falls.
//
// Invariant, and why the bound holds in floating point. For every strategy x
//     cost(x) = lower_bound + sum over variables of reduced[v](x_v)
//                           + sum over edges of (table - to_from[x_from] - to_to[x_to]),
// every term but the first is at least 0, so lower_bound <= cost(x). All numbers in it are
// multiples of the tables' quantum and the messages are held below 2^50 quanta, reduced costs below
// 2^52, so each addition is exact; a sum with an entry too large for that is rounded, which is
// monotone, and is then larger than any limit that may drop a choice. What moves is a free choice:
// any message keeps the first line true, a smaller one keeps the terms from falling below 0.
//
// A value: a copy goes on by itself (a node of branch and bound). Not thread-safe.

#include <memory>
#include <vector>

#include "sim/solver/pairwise.h"
#include "sim/solver/solution.h"

namespace strata {

class DualBound {
 public:
  explicit DualBound(std::shared_ptr<const PairwiseModel> model);

  /// On every strategy that is left; infinite once there is none. At first the sum of the tables'
  /// least entries.
  double lower_bound() const { return bound_; }

  /// One pass through the variables and one back. Drops choices that no strategy of cost <= `limit`
  /// makes. Stops between two variables once cancelled; the bound holds at any moment.
  void sweep(double limit, const SolveLimits& limits = {});
  /// Choices made along the last pass, each the cheapest after those before it.
  const Choices& decoded() const { return decoded_; }

  const PairwiseModel& model() const { return *model_; }
  bool alive(std::uint32_t v, std::uint32_t choice) const {
    return reduced_[model_->first_choice(v) + choice] < kInfinity;
  }
  std::size_t alive(std::uint32_t v) const;
  /// The numbers of the choices that are left, by variable.
  std::vector<Choices> choices() const;
  /// A strategy that makes this choice costs at least lower_bound() + this.
  double reduced_cost(std::uint32_t v, std::uint32_t choice) const {
    return reduced_[model_->first_choice(v) + choice];
  }
  /// What a strategy costs beyond lower_bound() because of variable v and half of v's edges.
  double excess(std::uint32_t v, const Choices& strategy) const;

  void drop(std::uint32_t v, std::uint32_t choice) {
    reduced_[model_->first_choice(v) + choice] = kInfinity;
  }
  void fix(std::uint32_t v, std::uint32_t choice);

  /// The same bound on the problem of the choices `kept` alone, whose model is given.
  DualBound restricted(std::shared_ptr<const PairwiseModel> model,
                       const std::vector<Choices>& kept) const;
  std::size_t bytes() const { return (reduced_.size() + messages_.size()) * sizeof(double); }

 private:
  void copy_kept(const DualBound& whole, const std::vector<Choices>& kept);
  struct Direction;
  void pass(const Direction& direction, double limit, const SolveLimits& limits);
  void settle(std::uint32_t v, double limit);
  void decode(std::uint32_t v, const Direction& direction);
  void send(std::uint32_t v, const Direction& direction, unsigned threads);
  void share_out(std::uint32_t v, const Incidence& incidence, double share);
  void pull(const Incidence& incidence, std::uint32_t v, unsigned threads);
  double* message(const Incidence& incidence, bool to_other);
  double residual(const Incidence& incidence, std::uint32_t at, std::uint32_t other) const;

  std::shared_ptr<const PairwiseModel> model_;
  std::vector<double> reduced_;   ///< by variable and choice; infinite where dropped
  std::vector<double> messages_;  ///< by edge: to its `from`, then to its `to`
  double bound_ = 0;
  Choices decoded_;
  std::vector<double> scratch_;  ///< two vectors of the most choices
};

}  // namespace strata
