#include "sim/graph/ops/activation.h"

#include <array>

#include "sim/graph/ops/checks.h"

namespace strata {

std::string_view Activation::name() const {
  constexpr std::array<std::string_view, kActivationKinds> kNames = {
      "relu", "relu6", "leaky_relu", "elu",        "sigmoid",
      "tanh", "silu",  "gelu",       "hard_swish", "hard_sigmoid"};
  return kNames[static_cast<std::size_t>(kind)];
}

Extents Activation::output(InputExtents inputs) const {
  check_finite("slope", slope);
  return only(inputs);
}

bool Activation::gradient_from_output() const {
  const bool has_slope = kind == ActivationKind::leaky_relu || kind == ActivationKind::elu;
  if (has_slope && slope < 0) return false;
  return kind != ActivationKind::silu && kind != ActivationKind::gelu &&
         kind != ActivationKind::hard_swish;
}

void Activation::make_canonical() {
  const bool has_slope = kind == ActivationKind::leaky_relu || kind == ActivationKind::elu;
  if (!has_slope) slope = Activation{}.slope;
}

std::vector<Activation> Activation::prototypes() {
  std::vector<Activation> all;
  for (std::size_t k = 0; k < kActivationKinds; ++k) {
    all.push_back({.kind = static_cast<ActivationKind>(k)});
  }
  return all;
}

// x y; y dy dx.
PhaseWork Activation::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 2, 3);
}

}  // namespace strata
