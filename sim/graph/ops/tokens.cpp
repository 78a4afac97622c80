#include "sim/graph/ops/tokens.h"

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

const Extents& sequence(std::string_view op, InputExtents inputs) {
  const Extents& in = only(inputs);
  if (in[Dim::d] != 1 || in[Dim::h] != 1) fail("{} takes tokens (n, c, w), not {}", op, show(in));
  return in;
}

}  // namespace

Extents Embedding::output(InputExtents inputs) const {
  check_range("vocabulary", vocabulary, 1, kMaxExtent);
  check_range("features", features, 1, kMaxExtent);
  check_finite("scale", scale);
  Extents out = sequence(name(), inputs);
  if (out[Dim::c] != 1) fail("embedding takes one number a token, not {}", out[Dim::c]);
  out[Dim::c] = features;
  return out;
}

AccessMap Embedding::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::c] = access::Whole{};
  return map;
}

std::string Embedding::cost_attributes() const {
  return attribute_text("vocabulary", vocabulary);
}

Parameters Embedding::parameters(InputExtents) const {
  return {bounded_product(vocabulary, features, kMaxElements), 0};
}

// The numbers, their vectors and the output; the gradient of all vectors is written whole.
PhaseWork Embedding::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::forward) return shard.elements(shard.in() + 2 * shard.out());
  if (phase != Phase::backward_weights) return {};
  return shard.elements(shard.in() + 2 * shard.out() + shard.parameters.total());
}

Extents PositionEmbedding::output(InputExtents inputs) const {
  const Extents& in = sequence(name(), inputs);
  check_range("positions", positions, 0, kMaxExtent);
  if (positions > 0 && positions < in[Dim::w]) {
    fail("{} positions are too few for {} tokens", positions, in[Dim::w]);
  }
  return in;
}

Parameters PositionEmbedding::parameters(InputExtents inputs) const {
  const std::int64_t all = positions > 0 ? positions : inputs[0][Dim::w];
  return {bounded_product(inputs[0][Dim::c], all, kMaxElements), 0};
}

// x p y; dy dx; dy dp.
PhaseWork PositionEmbedding::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::backward_weights) {
    return shard.elements(shard.out() + shard.parameters.total());
  }
  return shard.passes(phase, 2, 2);
}

Extents Tokens::output(InputExtents inputs) const {
  const Extents& in = only(inputs);
  return {{in[Dim::n], in[Dim::c], 1, 1, in[Dim::d] * in[Dim::h] * in[Dim::w]}};
}

AccessMap Tokens::reads(const ReadContext&) const {
  AccessMap map;
  for (Dim dim : kSpatialDims) map.dims[dim] = access::Whole{};
  return map;
}

PhaseWork Tokens::work(const ShardShape& shard, Phase phase) const {
  return shard.passes(phase, 2, 2);
}

Extents ClassToken::output(InputExtents inputs) const {
  Extents out = sequence(name(), inputs);
  ++out[Dim::w];
  return out;
}

AccessMap ClassToken::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::w] = access::Slice{1};
  return map;
}

Parameters ClassToken::parameters(InputExtents inputs) const {
  return {inputs[0][Dim::c], 0};
}

PhaseWork ClassToken::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::backward_weights) {
    return shard.elements(shard.output[Dim::n] * shard.output[Dim::c]);
  }
  return shard.passes(phase, 2, 2);
}

Extents SelectToken::output(InputExtents inputs) const {
  Extents out = sequence(name(), inputs);
  check_range("position", position, 0, out[Dim::w] - 1);
  out[Dim::w] = 1;
  return out;
}

AccessMap SelectToken::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::w] = access::Slice{-position};
  return map;
}

// The gradient of the tokens that were not taken is zero, and written.
PhaseWork SelectToken::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::backward_data) return shard.elements(shard.in() + shard.out());
  return shard.passes(phase, 2, 0);
}

}  // namespace strata
