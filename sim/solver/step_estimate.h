#pragma once

// A guess at the step of a strategy, for ranking strategies before they are simulated: Eq. 1, but
// with sums of gradients that go on behind the rest of the backward pass and half of the next
// forward pass. In graph order, from the last variable to the first, what is left to sum up is
//
//   left(v) = max(0, left(v + 1) - backward(v)) + t_S(v)
//
// where backward(v) is two thirds of the variable's t_C and half of its t_X to those that read it;
// what the forward passes do not hide of left(0) is added to all t_C and t_X. No sum over layers:
// layers compete for the time that hides them, which no discount (discount.h) knows.
//
// Where it is wrong, it learns from what was simulated: what each choice of each variable adds, by
// weighted ridge regression on the errors. Depends on the tables and what it learnt alone.

#include <span>
#include <utility>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// A strategy and the seconds that it takes.
using KnownStep = std::pair<const Choices, double>;

class StepEstimate {
 public:
  /// Both must outlive this; variables in the graph's order. `compute`: t_C by variable and choice,
  /// at most the tables' t_C + t_S.
  StepEstimate(const CostTables& tables, std::span<const std::vector<double>> compute);

  /// Learns from these instead of what it learnt before: finite steps, the fastest first. Those
  /// whose tables say infinite teach nothing.
  void learn(std::span<const KnownStep* const> known);

  double seconds(std::span<const std::uint32_t> choices) const;

 private:
  double overlapped(std::span<const std::uint32_t> choices) const;
  double correction(std::span<const std::uint32_t> choices) const;

  const CostTables& tables_;
  std::span<const std::vector<double>> compute_;
  std::vector<std::vector<double>> corrections_;  ///< by variable and choice
};

}  // namespace strata
