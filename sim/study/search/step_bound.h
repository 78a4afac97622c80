#pragma once

// A lower bound on the simulated step of every strategy of a space: what its first device computes.
//
// Proof. Each cut of a space gives the first device the first shard of each layer (Cut). In every
// step that device runs each phase of each of these shards once, and one after another. A steady
// step lasts as long as the device takes from the end of one step to the end of the next, and so no
// less than all its phases together. Their times are those that the simulation gives them, rounded
// down. Nothing that a device does besides (moves, sums of partial terms) is counted, nor the update
// where a parameter server may make it. The sum over the layers has no term of two layers: its least
// value is the sum of the least of each.

#include <vector>

#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"
#include "sim/study/case/predict.h"

namespace strata {

class StepBound {
 public:
  StepBound(const Case& input, const SearchSpace& space);

  /// Of every strategy of the space.
  Seconds least() const;
  /// Of the strategy that makes these choices.
  Seconds of(const Choices& choices) const;

 private:
  std::vector<std::vector<double>> seconds_;  // by variable and choice
};

}  // namespace strata
