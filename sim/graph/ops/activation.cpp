#include "sim/graph/ops/activation.h"

#include <array>

#include "sim/graph/ops/checks.h"

namespace strata {

std::string_view Activation::name() const {
  constexpr std::array<std::string_view, kActivationKinds> kNames = {
      "relu", "relu6",      "leaky_relu",   "elu",          "sigmoid", "tanh", "silu",
      "gelu", "hard_swish", "hard_sigmoid", "squared_relu", "softcap", "scale"};
  return kNames[static_cast<std::size_t>(kind)];
}

Extents Activation::output(InputExtents inputs) const {
  check_finite("slope", slope);
  if (kind == ActivationKind::softcap && !(slope > 0)) fail("cap must be positive");
  return only(inputs);
}

bool Activation::has_slope() const {
  return kind == ActivationKind::leaky_relu || kind == ActivationKind::elu ||
         kind == ActivationKind::softcap || kind == ActivationKind::scale;
}

bool Activation::gradient_from_output() const {
  if (kind == ActivationKind::scale) return true;
  if (has_slope() && slope < 0) return false;
  return kind != ActivationKind::silu && kind != ActivationKind::gelu &&
         kind != ActivationKind::hard_swish && kind != ActivationKind::squared_relu;
}

void Activation::make_canonical() {
  if (!has_slope()) slope = Activation{}.slope;
}

std::vector<Activation> Activation::prototypes() {
  std::vector<Activation> all;
  for (std::size_t k = 0; k < kActivationKinds; ++k) {
    all.push_back({.kind = static_cast<ActivationKind>(k)});
  }
  return all;
}

// x y; y dy dx, of a scale dy dx.
PhaseWork Activation::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 2, kind == ActivationKind::scale ? 2 : 3);
}

}  // namespace strata
