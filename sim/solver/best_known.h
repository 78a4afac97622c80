#pragma once

// The k best strategies found so far: what bounds the k-th best from above. And descent: making a
// strategy better one variable at a time. Values; not thread-safe.

#include <vector>

#include "sim/solver/pairwise.h"

namespace strata {

class BestKnown {
 public:
  explicit BestKnown(std::size_t count) : count_(count) {}

  /// Keeps it if it is one of the best, by cost and then lexicographically; true if it was kept.
  bool offer(const Choices& choices, double seconds);

  /// No strategy that costs more is one of the k best.
  double limit() const { return best_.size() < count_ ? kInfinity : best_.back().seconds; }
  double best_seconds() const { return best_.empty() ? kInfinity : best_.front().seconds; }
  std::size_t count() const { return count_; }
  const std::vector<Solution>& best() const { return best_; }

 private:
  std::size_t count_;
  std::vector<Solution> best_;  ///< all different, in order
};

/// Changes one variable after the other for the better until none can be; returns the cost.
double descend(const PairwiseModel& model, Choices& choices);

/// Descends from `start` and offers where it ends; with room for more than one, also all strategies
/// that differ from it in one variable.
void offer_descent(const PairwiseModel& model, Choices start, BestKnown& known);

}  // namespace strata
