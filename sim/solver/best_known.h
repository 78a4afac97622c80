#pragma once

// The k best strategies found so far: what bounds the k-th best from above. And descent: making a
// strategy better one variable at a time. Values; not thread-safe.

#include <vector>

#include "sim/solver/pairwise.h"

namespace strata {

/// Bytes that a strategy may take, where the search goes by cost + penalty (Lagrange): the bytes
/// weighed with a price. `penalty_of_limit` is no less than the penalty of any strategy that fits.
struct PricedMemory {
  const std::vector<std::vector<std::int64_t>>* bytes = nullptr;  ///< by variable and choice
  std::int64_t limit = 0;
  std::vector<std::vector<double>> penalty;  ///< by variable and choice; multiples of the quantum
  double penalty_of_limit = 0;
};

class BestKnown {
 public:
  explicit BestKnown(std::size_t count, const PricedMemory* memory = nullptr)
      : count_(count), memory_(memory) {}

  /// Keeps it if it is one of the best, by cost and then lexicographically, and fits in memory;
  /// true if it was kept. `seconds` includes its penalty.
  bool offer(const Choices& choices, double seconds);

  /// No strategy whose cost and penalty are more than this is one of the k best.
  double limit() const {
    if (best_.size() < count_) return kInfinity;
    return best_.back().seconds + (memory_ == nullptr ? 0 : memory_->penalty_of_limit);
  }
  const PricedMemory* memory() const { return memory_; }
  double best_seconds() const { return best_.empty() ? kInfinity : best_.front().seconds; }
  std::size_t count() const { return count_; }
  const std::vector<Solution>& best() const { return best_; }

 private:
  bool fits(const Choices& choices) const;

  std::size_t count_;
  const PricedMemory* memory_;
  std::vector<Solution> best_;  ///< all different, in order
};

/// Changes one variable after the other for the better until none can be; returns the cost.
double descend(const PairwiseModel& model, Choices& choices);

/// Descends from `start` and offers where it ends; with room for more than one, also `start` itself
/// and all strategies that differ from the end in one variable. `names`: what the model's choices
/// are called in `known`, by variable.
void offer_descent(const PairwiseModel& model, const std::vector<Choices>& names, Choices start,
                   BestKnown& known);

}  // namespace strata
