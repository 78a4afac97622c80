#include "sim/graph/ops/linear.h"

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {

Extents Linear::output(InputExtents inputs) const {
  check_range("out_features", out_features, 1, kMaxExtent);
  if (bias && !weight_of.empty()) fail("a weight that is shared needs bias = false");
  Extents out = only(inputs);
  out[Dim::c] = out_features;
  return out;
}

AccessMap Linear::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::c] = access::Reduced{};
  return map;
}

std::int64_t Linear::macs_per_output(InputExtents inputs) const {
  return inputs[0][Dim::c];
}

Parameters Linear::parameters(InputExtents inputs) const {
  return {bounded_product(out_features, inputs[0][Dim::c], kMaxElements), bias ? out_features : 0};
}

PhaseWork Linear::work(const ShardShape& shard, Phase phase) const {
  const std::int64_t out = shard.output[Dim::c], in = shard.inputs[0][Dim::c];
  const std::int64_t positions = volume(shard.output) / out;
  if (phase == Phase::forward) return shard.product({1, positions, out, in});
  if (phase == Phase::backward_data) return shard.product({1, positions, in, out});
  if (phase == Phase::backward_weights) return shard.product({1, out, in, positions});
  return {};
}

std::string Linear::cost_attributes() const {
  return attribute_text("bias", bias);
}

}  // namespace strata
