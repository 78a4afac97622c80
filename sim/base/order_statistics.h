#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

namespace strata {

/// What the largest of so many independent standard normal numbers is expected to be: 0 of one,
/// 0.564 of two, 2.508 of a hundred. The integral of 1 - F^n above 0 less that of F^n below, with
/// F the normal distribution, by the trapezoidal rule: to 1e-9 for up to a million.
inline double expected_largest_normal(std::size_t count) {
  constexpr double kEnd = 9, kStep = 1.0 / 256;
  const auto below = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  const auto power = static_cast<double>(count);
  double sum = 0;
  for (int i = 0; i <= static_cast<int>(kEnd / kStep); ++i) {
    const double x = i * kStep, weight = i == 0 ? 0.5 : 1;
    sum += weight * (1 - std::pow(below(x), power) - std::pow(below(-x), power));
  }
  return sum * kStep;
}

}  // namespace strata
