#include "sim/graph/ops/gate.h"

#include "sim/graph/ops/checks.h"

namespace strata {

std::string_view GatedActivation::name() const {
  if (kind == GateKind::clamped) return "clamped_swiglu";
  return kind == GateKind::silu ? "swiglu" : "geglu";
}

void GatedActivation::make_canonical() {
  if (kind != GateKind::clamped) *this = {kind};
}

Extents GatedActivation::output(InputExtents inputs) const {
  check_finite("alpha", alpha);
  check_finite("limit", limit);
  if (limit <= 0) fail("limit must be positive");
  if (inputs.size() != 2) fail("{} takes a gate and values, not {} inputs", name(), inputs.size());
  if (inputs[0] == inputs[1]) return inputs[0];
  fail("{} takes equal extents, not {} and {}", name(), show(inputs[0]), show(inputs[1]));
}

// x g y; x g dy dx dg.
PhaseWork GatedActivation::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 3, 5);
}

std::vector<GatedActivation> GatedActivation::prototypes() {
  return {{GateKind::silu}, {GateKind::gelu}, {GateKind::clamped}};
}

}  // namespace strata
