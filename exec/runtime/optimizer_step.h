#pragma once

// One step of an optimizer, parameter by parameter. Pure. What is constexpr runs on GPUs, too.

#include <cmath>
#include <cstdint>

#include "sim/graph/optimizer.h"

namespace strata {

/// What makes up for the zeros that Adam's means begin with.
struct AdamCorrection {
  float mean = 1, square = 1;
};
/// `step`: from 0.
inline AdamCorrection adam_correction(std::uint64_t step) {
  const auto t = static_cast<double>(step + 1);
  return {static_cast<float>(1 / (1 - std::pow(kAdamMean, t))),
          static_cast<float>(1 / (1 - std::pow(kAdamSquare, t)))};
}

/// In numbers of a type.
template <class Real>
class OptimizerStep {
 public:
  constexpr explicit OptimizerStep(Real learning_rate, AdamCorrection correction = {})
      : rate_(learning_rate), correction_(correction) {}

  constexpr Real sgd(Real parameter, Real gradient) const { return parameter - rate_ * gradient; }
  constexpr Real momentum(Real parameter, Real gradient, Real& velocity) const {
    velocity = Real(kMomentum) * velocity + gradient;
    return parameter - rate_ * velocity;
  }
  constexpr Real adam(Real parameter, Real gradient, Real& mean, Real& square) const {
    mean = Real(kAdamMean) * mean + Real(1 - kAdamMean) * gradient;
    square = Real(kAdamSquare) * square + Real(1 - kAdamSquare) * gradient * gradient;
    const Real length = std::sqrt(square * Real(correction_.square)) + Real(kAdamEpsilon);
    return parameter - rate_ * (mean * Real(correction_.mean)) / length;
  }

 private:
  Real rate_;
  AdamCorrection correction_;
};

}  // namespace strata
