#pragma once

// Of what was measured several times. Pure; thread-safe.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace strata {

/// Linear between the two nearest ranks: 0 is the least, 1 the largest. Precondition: `sorted` is,
/// and has a value.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// Of values in any order. Precondition: there is one.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

}  // namespace strata
