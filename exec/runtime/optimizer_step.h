#pragma once

// One step of an optimizer, parameter by parameter. Pure. What is constexpr runs on GPUs, too.

#include <cmath>
#include <cstdint>

#include "sim/graph/optimizer.h"

namespace strata {

/// What makes up for the zeros that Adam's means begin with; of rules without means, 1.
struct AdamCorrection {
  float mean = 1, square = 1;
};
/// `step`: from 0.
inline AdamCorrection adam_correction(std::uint64_t step, const OptimizerConstants& constants) {
  const auto t = static_cast<double>(step + 1);
  const auto of = [t](double beta) { return static_cast<float>(1 / (1 - std::pow(beta, t))); };
  return {of(constants.beta1), of(constants.beta2)};
}

/// In numbers of a type.
template <class Real>
class OptimizerStep {
 public:
  constexpr OptimizerStep(Real learning_rate, const OptimizerConstants& constants,
                          AdamCorrection correction = {})
      : rate_(learning_rate), constants_(constants), correction_(correction) {}

  /// The parameter after the step, by the rule; `first` and `second`: the words of its state, of
  /// which a rule uses as many as it has.
  template <Optimizer optimizer>
  constexpr Real updated(Real parameter, Real gradient, Real& first, Real& second) const {
    const Real decay = Real(constants_.weight_decay);
    if constexpr (optimizer == Optimizer::sgd) {
      return parameter - rate_ * (gradient + decay * parameter);
    } else if constexpr (optimizer == Optimizer::momentum) {
      first = Real(constants_.beta1) * first + gradient + decay * parameter;
      return parameter - rate_ * first;
    } else if constexpr (optimizer == Optimizer::adam) {
      return adam(parameter, gradient + decay * parameter, first, second);
    } else if constexpr (optimizer == Optimizer::adamw) {
      return adam(parameter - rate_ * decay * parameter, gradient, first, second);
    } else {
      static_assert(optimizer == Optimizer::lion);
      const Real towards = mean(constants_.beta1, first, gradient);
      first = mean(constants_.beta2, first, gradient);
      const Real sign = Real(towards > 0) - Real(towards < 0);
      return parameter - rate_ * (sign + decay * parameter);
    }
  }

 private:
  static constexpr Real mean(double beta, Real before, Real value) {
    return Real(beta) * before + Real(1 - beta) * value;
  }
  constexpr Real adam(Real parameter, Real gradient, Real& first, Real& second) const {
    first = mean(constants_.beta1, first, gradient);
    second = mean(constants_.beta2, second, gradient * gradient);
    const Real length = std::sqrt(second * Real(correction_.square)) + Real(constants_.epsilon);
    return parameter - rate_ * (first * Real(correction_.mean)) / length;
  }

  Real rate_;
  OptimizerConstants constants_;
  AdamCorrection correction_;
};

/// Calls visit.template operator()<optimizer>() with the optimizer as a constant.
template <class Visit>
void with_optimizer(Optimizer optimizer, const Visit& visit) {
  switch (optimizer) {
    case Optimizer::sgd:
      return visit.template operator()<Optimizer::sgd>();
    case Optimizer::momentum:
      return visit.template operator()<Optimizer::momentum>();
    case Optimizer::adam:
      return visit.template operator()<Optimizer::adam>();
    case Optimizer::adamw:
      return visit.template operator()<Optimizer::adamw>();
    case Optimizer::lion:
      return visit.template operator()<Optimizer::lion>();
  }
}

}  // namespace strata
