#include "sim/graph/ops/fully_connected.h"

#include <algorithm>

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {

Extents FullyConnected::output(InputExtents inputs) const {
  check_range("out_features", out_features, 1, kMaxExtent);
  return {{only(inputs)[Dim::n], out_features, 1, 1, 1}};
}

std::int64_t FullyConnected::macs_per_output(InputExtents inputs) const {
  return volume(inputs[0]) / inputs[0][Dim::n];
}

Parameters FullyConnected::parameters(InputExtents inputs) const {
  return {bounded_product(out_features, macs_per_output(inputs), kMaxElements),
          bias ? out_features : 0};
}

PhaseWork FullyConnected::work(const ShardShape& shard, Phase phase) const {
  const std::int64_t n = shard.output[Dim::n], c = shard.output[Dim::c];
  const std::int64_t features = volume(shard.inputs[0]) / std::max<std::int64_t>(1, n);
  if (phase == Phase::forward) return shard.product({1, n, c, features});
  if (phase == Phase::backward_data) return shard.product({1, n, features, c});
  if (phase == Phase::backward_weights) return shard.product({1, c, features, n});
  return {};
}

std::string FullyConnected::cost_attributes() const {
  return attribute_text("bias", bias);
}

}  // namespace strata
