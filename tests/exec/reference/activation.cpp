#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// The standard normal distribution and its density: gelu is x times the first.
double normal(double x) {
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2));
}
double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

}  // namespace

double activate(const Activation& op, double x) {
  switch (op.kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::relu6:
      return std::clamp(x, 0.0, 6.0);
    case ActivationKind::leaky_relu:
      return x > 0 ? x : op.slope * x;
    case ActivationKind::elu:
      return x > 0 ? x : op.slope * std::expm1(x);
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::silu:
      return x * sigmoid(x);
    case ActivationKind::gelu:
      return x * normal(x);
    case ActivationKind::hard_swish:
      return x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case ActivationKind::hard_sigmoid:
      return std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case ActivationKind::squared_relu:
      return x > 0 ? x * x : 0;
    case ActivationKind::softcap:
      return op.slope * std::tanh(x / op.slope);
    case ActivationKind::scale:
      return op.slope * x;
  }
  return 0;
}

double derivative(const Activation& op, double x) {
  const double s = sigmoid(x);
  switch (op.kind) {
    case ActivationKind::relu:
      return x > 0 ? 1 : 0;
    case ActivationKind::relu6:
      return x > 0 && x < 6 ? 1 : 0;
    case ActivationKind::leaky_relu:
      return x > 0 ? 1 : op.slope;
    case ActivationKind::elu:
      return x > 0 ? 1 : op.slope * std::exp(x);
    case ActivationKind::sigmoid:
      return s * (1 - s);
    case ActivationKind::tanh:
      return 1 - std::tanh(x) * std::tanh(x);
    case ActivationKind::silu:
      return s + x * s * (1 - s);
    case ActivationKind::gelu:
      return normal(x) + x * normal_density(x);
    case ActivationKind::hard_swish:
      return x < -3 ? 0 : x <= 3 ? x / 3 + 0.5 : 1;
    case ActivationKind::hard_sigmoid:
      return x > -3 && x < 3 ? 1.0 / 6 : 0;
    case ActivationKind::squared_relu:
      return x > 0 ? 2 * x : 0;
    case ActivationKind::softcap:
      return 1 - std::tanh(x / op.slope) * std::tanh(x / op.slope);
    case ActivationKind::scale:
      return op.slope;
  }
  return 0;
}

}  // namespace strata::reference
