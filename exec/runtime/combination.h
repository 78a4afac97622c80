#pragma once

// How the parts that several shards made of one thing become one.

#include <cstdint>

namespace strata {

enum class Combination : std::uint8_t {
  /// Values add up: gradients of parameters, batch norm's backward sums.
  sum,
  /// Pairs (mean, sum of squared distances from it), each of a known count of elements.
  moments,
  /// Pairs (maximum, sum of exp(x - maximum)).
  log_sum_exp
};

}  // namespace strata
