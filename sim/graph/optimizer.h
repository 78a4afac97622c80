#pragma once

// The rules by which training updates a parameter p by its gradient g: what each keeps of a
// parameter from step to step, and its constants. A rule is a row here and a function in
// exec/runtime/optimizer_step.h. Values; thread-safe.

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/graph/ops/phase.h"

namespace strata {

/// w: the weight decay, which sgd, momentum and adam add to the gradient: g + w p.
enum class Optimizer : std::uint8_t {
  sgd,       ///< p -= lr g
  momentum,  ///< v = b1 v + g, p -= lr v
  /// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, of step t = 1, 2, ...
  /// p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon) (Kingma and Ba 2015)
  adam,
  adamw,  ///< as adam, and p -= lr w p before it (Loshchilov and Hutter 2019)
  /// p -= lr (sign(b1 m + (1 - b1) g) + w p), m = b2 m + (1 - b2) g (Chen et al. 2023)
  lion
};

/// What a rule does not have is 0.
struct OptimizerConstants {
  double beta1 = 0, beta2 = 0, epsilon = 0, weight_decay = 0;
  bool operator==(const OptimizerConstants&) const = default;
};

struct OptimizerTraits {
  std::string_view name;
  std::int64_t words = 0;  ///< numbers in fp32 that are kept of each parameter
  bool ignores_gradient_scale =
      false;                      ///< first steps are as long as lr, whatever the gradients are
  OptimizerConstants usual = {};  ///< PyTorch's, and the paper's of lion
  /// What an operation at a time takes of the time of one kernel: measured of adam, adamw and lion
  /// (PyTorch 2.8 on an A100, docs/frameworks.md), of the others by the passes that they make.
  double operations_times = 1;
  std::int32_t operations = 1;  ///< so many kernels
};
/// In the order of the enumeration.
inline constexpr std::array<OptimizerTraits, 5> kOptimizers = {{
    {"sgd", 0, false, {}, 1, 1},
    {"momentum", 1, false, {.beta1 = 0.9}, 1.6, 3},
    {"adam", 2, true, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8}, 3.0, 9},
    {"adamw",
     2,
     true,
     {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.01},
     2.83,
     10},
    {"lion", 1, true, {.beta1 = 0.9, .beta2 = 0.99}, 4.42, 9},
}};
inline constexpr auto kOptimizerNames = [] {
  std::array<std::string_view, kOptimizers.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kOptimizers[i].name;
  return names;
}();

constexpr const OptimizerTraits& traits(Optimizer optimizer) {
  return kOptimizers[static_cast<std::size_t>(optimizer)];
}
constexpr std::string_view name(Optimizer optimizer) {
  return traits(optimizer).name;
}
constexpr std::int64_t state_words(Optimizer optimizer) {
  return traits(optimizer).words;
}
/// Bytes of a parameter's state: the words, and where parameters have 16 bits, the parameter itself
/// in fp32, which the small steps of these rules need. Plain SGD keeps nothing.
constexpr std::int64_t state_bytes(Optimizer optimizer, DType parameters) {
  const std::int64_t words = state_words(optimizer);
  const bool master = words > 0 && element_bytes(parameters) < 4;
  return 4 * (words + (master ? 1 : 0));
}
/// Bytes that the update of a parameter reads and writes: it, its gradient, and it again; its state
/// twice.
constexpr std::int64_t update_bytes(Optimizer optimizer, DType parameters, DType gradients) {
  return 2 * element_bytes(parameters) + element_bytes(gradients) +
         2 * state_bytes(optimizer, parameters);
}

}  // namespace strata
