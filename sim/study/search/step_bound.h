#pragma once

// A lower bound on the step that any strategy of a space can sustain: what its devices compute.
//
// Proof. In every step a device runs each phase of each of its shards once, and one after another:
// N steps take at least N times as long as what it computes in one, so no strategy sustains a
// shorter step, and none is simulated as shorter (Timeline::step_seconds). The times are those that
// the simulation gives the phases, rounded down. What a device does besides (moves, sums of partial
// terms) is not counted, nor the update where a parameter server may make it.
//
// Two devices are looked at: the first, which has a shard of every layer however it is cut (Cut),
// and the last, which has the larger ones where parts are uneven. A step lasts at least as long as
// either computes, so at least as long as any weighted mean of the two. Such a mean is a sum over
// the layers, without terms of two, so its least value over all strategies is the sum of the least
// of each layer. That is a bound for every weight; the weight that gives the largest is taken.

#include <algorithm>
#include <array>
#include <vector>

#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"
#include "sim/study/case/predict.h"

namespace strata {

class StepBound {
 public:
  /// Throws Cancelled once `limits` say so.
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

 private:
  using Loads = std::array<double, 2>;  // of the first device and of the last

  Seconds least_mean(double weight_of_first) const;

  std::vector<std::vector<Loads>> loads_;  // by variable and choice
  Seconds least_;
};

}  // namespace strata
