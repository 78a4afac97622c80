#pragma once

// The rules by which training updates a parameter p by its gradient g, with PyTorch's usual
// constants, and what each keeps of a parameter from step to step. Values; thread-safe.

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/graph/ops/phase.h"

namespace strata {

enum class Optimizer : std::uint8_t {
  sgd,       ///< p -= lr g
  momentum,  ///< v = 0.9 v + g, p -= lr v
  /// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, of step t = 1, 2, ...
  /// p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon) (Kingma and Ba 2015)
  adam
};
inline constexpr std::array<std::string_view, 3> kOptimizerNames = {"sgd", "momentum", "adam"};
constexpr std::string_view name(Optimizer optimizer) {
  return kOptimizerNames[static_cast<std::size_t>(optimizer)];
}

inline constexpr double kMomentum = 0.9;
inline constexpr double kAdamMean = 0.9, kAdamSquare = 0.999, kAdamEpsilon = 1e-8;

/// Numbers in fp32 that are kept of each parameter.
constexpr std::int64_t state_words(Optimizer optimizer) {
  return static_cast<std::int64_t>(optimizer);
}
/// Bytes of a parameter's state: the words, and where parameters have 16 bits, the parameter itself
/// in fp32, which the small steps of these rules need. Plain SGD keeps nothing.
constexpr std::int64_t state_bytes(Optimizer optimizer, DType parameters) {
  const std::int64_t words = state_words(optimizer);
  const bool master = words > 0 && element_bytes(parameters) < 4;
  return 4 * (words + (master ? 1 : 0));
}

}  // namespace strata
