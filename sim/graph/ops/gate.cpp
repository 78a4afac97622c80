#include "sim/graph/ops/gate.h"

#include "sim/graph/ops/checks.h"

namespace strata {

Extents GatedActivation::output(InputExtents inputs) const {
  if (inputs.size() != 2) fail("{} takes a gate and values, not {} inputs", name(), inputs.size());
  if (inputs[0] == inputs[1]) return inputs[0];
  fail("{} takes equal extents, not {} and {}", name(), show(inputs[0]), show(inputs[1]));
}

// x g y; x g dy dx dg.
PhaseWork GatedActivation::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 3, 5);
}

std::vector<GatedActivation> GatedActivation::prototypes() {
  return {{GateKind::silu}, {GateKind::gelu}};
}

}  // namespace strata
