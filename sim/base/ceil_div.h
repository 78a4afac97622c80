#pragma once

// Whole numbers divided upwards: how many pieces of a size cover a length.

#include <cstdint>

namespace strata {

/// The least integer that is not below a / b, for b > 0 and a of either sign.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

}  // namespace strata
