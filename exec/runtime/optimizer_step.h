#pragma once

// One step of an optimizer, parameter by parameter. Pure. What is constexpr runs on GPUs, too.

#include <cmath>
#include <cstdint>

#include "sim/graph/optimizer.h"

namespace strata {

/// What makes up for the zeros that means begin with: adam and adamw alone use it.
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
      : first_{Real(constants.beta1), Real(1 - constants.beta1)},
        second_{Real(constants.beta2), Real(1 - constants.beta2)},
        epsilon_(Real(constants.epsilon)),
        decay_(Real(constants.weight_decay)),
        rate_(learning_rate),
        correction_(correction) {}

  /// The same rule at another step.
  constexpr OptimizerStep at(Real learning_rate, AdamCorrection correction) const {
    OptimizerStep other = *this;
    other.rate_ = learning_rate;
    other.correction_ = correction;
    return other;
  }

  /// The parameter after the step, by the rule; `first` and `second`: its moments, of which a rule
  /// uses as many as it keeps.
  template <Optimizer optimizer>
  constexpr Real updated(Real parameter, Real gradient, Real& first, Real& second) const {
    if constexpr (optimizer == Optimizer::sgd) {
      return parameter - rate_ * (gradient + decay_ * parameter);
    } else if constexpr (optimizer == Optimizer::momentum) {
      first = first_.before * first + gradient + decay_ * parameter;
      return parameter - rate_ * first;
    } else if constexpr (optimizer == Optimizer::adam) {
      return adam(parameter, gradient + decay_ * parameter, first, second);
    } else if constexpr (optimizer == Optimizer::adamw) {
      return adam(parameter - rate_ * decay_ * parameter, gradient, first, second);
    } else {
      static_assert(optimizer == Optimizer::lion);
      const Real towards = mean(first_, first, gradient);
      first = mean(second_, first, gradient);
      const Real sign = Real(towards > 0) - Real(towards < 0);
      return parameter - rate_ * (sign + decay_ * parameter);
    }
  }

 private:
  /// Of a moving mean.
  struct Shares {
    Real before, value;
  };
  static constexpr Real mean(Shares shares, Real before, Real value) {
    return shares.before * before + shares.value * value;
  }
  constexpr Real adam(Real parameter, Real gradient, Real& first, Real& second) const {
    first = mean(first_, first, gradient);
    second = mean(second_, second, gradient * gradient);
    const Real length = std::sqrt(second * Real(correction_.square)) + epsilon_;
    return parameter - rate_ * (first * Real(correction_.mean)) / length;
  }

  Shares first_, second_;
  Real epsilon_, decay_, rate_;
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
