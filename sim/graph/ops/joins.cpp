#include "sim/graph/ops/joins.h"

#include <string>

#include "sim/graph/ops/checks.h"

namespace strata {

Extents Concat::output(InputExtents inputs) const {
  if (inputs.empty()) fail("concat takes at least one input");
  Extents out = inputs[0];
  for (const Extents& next : inputs.subspan(1)) {
    Extents same = next;
    same[Dim::c] = out[Dim::c];
    if (same != out) {
      fail("concat joins channels; its inputs {} and {} differ elsewhere", show(inputs[0]),
           show(next));
    }
    out[Dim::c] += next[Dim::c];
    check_range("channel extent", out[Dim::c], 1, kMaxExtent);
  }
  return out;
}

AccessMap Concat::reads(const ReadContext& context) const {
  AccessMap map;
  map.dims[Dim::c] = access::Slice{context.channels_before};
  return map;
}

PhaseWork Concat::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 2, 2);
}

Extents Add::output(InputExtents inputs) const {
  if (inputs.size() < 2) fail("add takes at least two inputs, not {}", inputs.size());
  for (const Extents& next : inputs) {
    if (next != inputs[0]) {
      fail("add takes equal extents, not {} and {}", show(inputs[0]), show(next));
    }
  }
  return inputs[0];
}

// Backward: the sum of gradients that meet where the input branched.
PhaseWork Add::work(const ShardShape& shard, Phase phase) const {
  const auto operands = static_cast<std::int64_t>(shard.inputs.size()) + 1;
  return shard.passes(phase, operands, operands);
}

Extents Multiply::output(InputExtents inputs) const {
  if (inputs.size() != 2) fail("multiply takes two inputs, not {}", inputs.size());
  Extents gate = inputs[0];
  for (Dim dim : kSpatialDims) gate[dim] = 1;
  Extents of_positions = inputs[0];
  of_positions[Dim::c] = 1;
  if (inputs[1] == inputs[0] || inputs[1] == gate || inputs[1] == of_positions) return inputs[0];
  std::string or_gate = inputs[0] == gate ? "" : " or, as a gate, " + show(gate);
  if (inputs[0] != of_positions) or_gate += " or " + show(of_positions);
  fail("multiply takes a second input of {}{}, not {}", show(inputs[0]), or_gate, show(inputs[1]));
}

AccessMap Multiply::reads(const ReadContext& context) const {
  AccessMap map;
  for (Dim dim : {Dim::c, Dim::d, Dim::h, Dim::w}) {
    if (context.extents[dim] == 1) map.dims[dim] = access::Whole{};
  }
  return map;
}

// x g y; x g dy dx dg, where g is as large as x or a gate.
PhaseWork Multiply::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::forward) return shard.elements(shard.in() + shard.out());
  if (phase == Phase::backward_data) return shard.elements(2 * shard.in() + shard.out());
  return {};
}

}  // namespace strata
