#pragma once

// A lower bound on the step that any strategy of a space can sustain. What a step cannot be shorter
// than, whatever the strategy: what a device computes in it; for how long a link is busy; and, in a
// network that is a chain, how long the layers wait for one another. So it is no shorter than any
// weighted mean of these, and such a mean is a sum over the layers and over neighbours, whose least
// value over all strategies is found exactly (weighted_bound.h). docs/solve.md has the proof.
//
// In every step a device runs each phase of each of its shards once (of several rounds, in each of
// them), and one after another: N steps
// take at least N times as long as what it computes in one. The times are those that the simulation
// gives the phases, rounded down. On many devices only two of them are looked at: the first, which
// has a shard of every layer however it is cut (Cut), and the last, which has the larger ones where
// parts are uneven.

#include <algorithm>
#include <array>
#include <vector>

#include "sim/case/predict.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"

namespace strata {

class StepBound {
 public:
  /// Of a case without micro-batches, or one that is cut in rounds. Throws Cancelled once `limits`
  /// say so.
  StepBound(const Case& input, const SearchSpace& space, const SolveLimits& limits = {});

  /// Of every strategy of the space.
  Seconds least() const { return least_; }
  /// What a variable's layers compute on the busier of the two devices.
  double compute(std::size_t variable, std::uint32_t choice) const {
    const Loads& loads = loads_[variable][choice];
    return std::max(loads[0], loads[1]);
  }
  /// Of the strategy that makes these choices.
  Seconds of(const Choices& choices) const;

  /// Of other strategies, too, of which this is a lower bound.
  void include(Seconds least) { least_ = std::min(least_, least); }

 private:
  using Loads = std::array<double, 2>;  // of the first device and of the last

  void find_loads(const Case& input, const SearchSpace& space, const SolveLimits& limits);
  double find_least();
  Seconds least_mean(double weight_of_first) const;
  std::vector<std::vector<double>> excess(double weight_of_first) const;

  std::vector<std::vector<Loads>> loads_;  // by variable and choice
  Seconds least_;
};

}  // namespace strata
