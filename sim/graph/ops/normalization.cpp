#include "sim/graph/ops/normalization.h"

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

void check_epsilon(double epsilon) {
  check_finite("epsilon", epsilon);
  if (epsilon < 0) fail("epsilon must not be negative");
}

// Of norms over channels. Sums of x; x again and y. Sums over x and dy; both again and dx; both
// again for the parameters.
PhaseWork work_by_position(const ShardShape& shard, Phase phase, bool affine) {
  if (phase == Phase::forward_statistics) return shard.passes(1);
  if (phase == Phase::backward_statistics) return shard.passes(2);
  if (phase == Phase::backward_weights) return shard.passes(affine ? 2 : 0);
  return shard.passes(phase, 2, 3);
}

}  // namespace

Extents BatchNorm::output(InputExtents inputs) const {
  check_epsilon(epsilon);
  return only(inputs);
}

Statistics BatchNorm::statistics(const Box& output) const {
  Statistics sums;
  for (Dim dim : kDims) sums.over[dim] = dim != Dim::c;
  sums.forward_by = Combination::moments;
  sums.forward_values = sums.backward_values = 2 * output[Dim::c].size();
  return sums;
}

// Sums of x; x again and y. Sums over x and dy; both again and dx.
PhaseWork BatchNorm::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::forward_statistics) return shard.passes(1);
  if (phase == Phase::backward_statistics) return shard.passes(2);
  return shard.passes(phase, 2, 3);
}

Parameters BatchNorm::parameters(InputExtents inputs) const {
  return {inputs[0][Dim::c], inputs[0][Dim::c]};
}

Extents LayerNorm::output(InputExtents inputs) const {
  check_epsilon(epsilon);
  return only(inputs);
}

Statistics LayerNorm::statistics(const Box& output) const {
  Statistics sums;
  sums.over[Dim::c] = true;
  sums.forward_by = Combination::moments;
  sums.forward_values = sums.backward_values = 2 * positions(output);
  return sums;
}

PhaseWork LayerNorm::work(const ShardShape& shard, Phase phase) const {
  return work_by_position(shard, phase, affine);
}

Parameters LayerNorm::parameters(InputExtents inputs) const {
  if (!affine) return {};
  return {inputs[0][Dim::c], inputs[0][Dim::c]};
}

Extents RmsNorm::output(InputExtents inputs) const {
  check_epsilon(epsilon);
  check_range("head_size", head_size, 0, kMaxExtent);
  const Extents& in = only(inputs);
  if (head_size > 0 && in[Dim::c] % head_size != 0) {
    fail("{} channels are no multiple of head_size {}", in[Dim::c], head_size);
  }
  return in;
}

Statistics RmsNorm::statistics(const Box& output) const {
  Statistics sums;
  if (head_size > 0) return sums;
  sums.over[Dim::c] = true;
  sums.forward_values = sums.backward_values = positions(output);
  return sums;
}

Saved RmsNorm::saved(const SavedContext& of) const {
  return {.values = head_size > 0 ? volume(of.output) / head_size : positions(of.output)};
}

Parameters RmsNorm::parameters(InputExtents inputs) const {
  if (head_size > 0) return {.weight = head_size, .loops = kNoLoops};
  return {.weight = inputs[0][Dim::c]};
}

std::string RmsNorm::cost_attributes() const {
  return head_size > 0 ? attribute_text("head_size", head_size) : std::string();
}

Extents RmsNorm::units(InputExtents inputs) const {
  Extents units{};
  if (head_size > 0) units[Dim::c] = inputs[0][Dim::c] / head_size;
  return units;
}

PhaseWork RmsNorm::work(const ShardShape& shard, Phase phase) const {
  return work_by_position(shard, phase, true);
}

Extents LocalResponseNorm::output(InputExtents inputs) const {
  check_range("size", size, 1, kMaxWindow);
  check_finite("alpha", alpha);
  check_finite("beta", beta);
  check_finite("k", k);
  return only(inputs);
}

AccessMap LocalResponseNorm::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::c] = access::Neighbours{(size - 1) / 2, size / 2};
  return map;
}

// x y; x y dx dy.
PhaseWork LocalResponseNorm::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 2, 4);
}

std::string LocalResponseNorm::cost_attributes() const {
  return attribute_text("size", size);
}

}  // namespace strata
