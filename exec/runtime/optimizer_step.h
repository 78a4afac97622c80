#pragma once

// One step of an optimizer, parameter by parameter. Pure. What is constexpr runs on GPUs, too.

#include <cmath>
#include <cstdint>

#include "sim/graph/optimizer.h"

namespace strata {

/// In numbers of a type.
template <class Real>
class OptimizerStep {
 public:
  /// `step`: from 0.
  constexpr OptimizerStep(Optimizer optimizer, std::uint64_t step, Real learning_rate)
      : rate_(learning_rate) {
    if (optimizer != Optimizer::adam) return;
    const auto t = static_cast<double>(step + 1);
    mean_ = static_cast<Real>(1 / (1 - std::pow(kAdamMean, t)));
    square_ = static_cast<Real>(1 / (1 - std::pow(kAdamSquare, t)));
  }

  constexpr Real sgd(Real parameter, Real gradient) const { return parameter - rate_ * gradient; }
  constexpr Real momentum(Real parameter, Real gradient, Real& velocity) const {
    velocity = Real(kMomentum) * velocity + gradient;
    return parameter - rate_ * velocity;
  }
  constexpr Real adam(Real parameter, Real gradient, Real& mean, Real& square) const {
    mean = Real(kAdamMean) * mean + Real(1 - kAdamMean) * gradient;
    square = Real(kAdamSquare) * square + Real(1 - kAdamSquare) * gradient * gradient;
    return parameter - rate_ * (mean * mean_) / (std::sqrt(square * square_) + Real(kAdamEpsilon));
  }

 private:
  Real rate_;
  Real mean_ = 1, square_ = 1;  ///< what makes up for the zeros in the beginning
};

}  // namespace strata
