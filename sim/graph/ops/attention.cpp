#include "sim/graph/ops/attention.h"

#include <algorithm>
#include <cmath>

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

void check_heads(std::string_view of, const Extents& tensor, std::int64_t head_size) {
  if (tensor[Dim::d] != 1 || tensor[Dim::h] != 1) {
    fail("attention takes {} of (n, c, w), not {}", of, show(tensor));
  }
  if (tensor[Dim::c] % head_size == 0) return;
  fail("attention takes {} of whole heads: their {} channels are no multiple of head_size {}", of,
       tensor[Dim::c], head_size);
}

}  // namespace

Extents Attention::output(InputExtents inputs) const {
  if (inputs.size() != 3) {
    fail("attention takes queries, keys and values, not {} inputs", inputs.size());
  }
  const Extents &queries = inputs[0], &keys = inputs[1], &values = inputs[2];
  check_range("head_size", head_size, 1, kMaxExtent);
  check_range("window", window, 0, kMaxExtent);
  check_finite("rotary", rotary);
  if (!(dropout >= 0 && dropout < 1)) fail("dropout must be in [0, 1)");
  if (rotary < 0) fail("rotary must not be negative");
  if (rotary > 0 && rotary_size == 0 && head_size % 2 != 0) {
    fail("rotary positions need an even head_size");
  }
  check_turned();
  check_finite("scale", scale);
  if (scale < 0) fail("scale must not be negative");
  check_finite("softcap", softcap);
  if (softcap < 0) fail("softcap must not be negative");
  if (window > 0 && !causal) fail("a window needs causal = true");
  check_heads("queries", queries, head_size);
  check_heads("keys", keys, head_size);
  if (keys != values) {
    fail("attention takes keys and values of equal extents, not {} and {}", show(keys),
         show(values));
  }
  if (queries[Dim::c] % keys[Dim::c] != 0) {
    fail("each head of keys serves equally many of queries: {} channels are no multiple of {}",
         queries[Dim::c], keys[Dim::c]);
  }
  if (bounded_product(queries[Dim::w], keys[Dim::w], kMaxMacs / 4) < 0) {
    fail("attention of {} positions to {} is too large", queries[Dim::w], keys[Dim::w]);
  }
  if (causal && queries[Dim::w] != keys[Dim::w]) {
    fail("causal attention takes as many keys as queries, not {} and {}", keys[Dim::w],
         queries[Dim::w]);
  }
  return queries;
}

void Attention::check_turned() const {
  if (rotary_size == 0) return;
  check_range("rotary_size", rotary_size, 1, head_size);
  if (rotary == 0) fail("rotary_size needs rotary, the base of rotary positions");
  if (rotary_size % 2 != 0) fail("rotary positions need an even rotary_size");
}

double Attention::score_scale() const {
  return scale > 0 ? scale : 1 / std::sqrt(static_cast<double>(head_size));
}

AccessMap Attention::reads(const ReadContext& context) const {
  AccessMap map;
  const std::int64_t queries_of_key = context.output[Dim::c] / context.extents[Dim::c];
  map.dims[Dim::c] = access::Blocks{queries_of_key * head_size, head_size};
  if (context.channels_before == 0) return map;
  const std::int64_t before = window > 0 ? window - 1 : context.extents[Dim::w];
  if (causal) {
    map.dims[Dim::w] = access::Neighbours{before, 0};
  } else {
    map.dims[Dim::w] = access::Whole{};
  }
  return map;
}

Saved Attention::saved(const SavedContext& of) const {
  const std::int64_t rows = volume(of.output) / head_size;
  if (of.kernels.fused_attention()) return {.values = rows};
  std::int64_t keys = of.inputs[1][Dim::w];
  if (causal) {
    const Interval queries = of.output[Dim::w];
    keys = window > 0 ? std::min(queries.size() + window - 1, queries.end) : queries.end;
  }
  const std::int64_t scores = rows * keys;
  const std::int64_t kept = 1 + (dropout > 0 ? 1 : 0) + (softcap > 0 ? 1 : 0);
  return {.elements = kept * scores, .masks = dropout > 0 && of.kernels.keeps_masks ? scores : 0};
}

std::int64_t Attention::pairs(std::int64_t queries, std::int64_t keys) const {
  if (!causal) return queries * keys;
  // Query i sees keys - queries + 1 + i of them, and of a window no more than that has.
  const std::int64_t first = keys - queries + 1;
  const std::int64_t most = window > 0 ? std::min(window, keys) : keys;
  const std::int64_t growing = std::clamp<std::int64_t>(most - first, 0, queries);
  return growing * first + growing * (growing - 1) / 2 + (queries - growing) * most;
}

std::int64_t Attention::macs_per_output(InputExtents inputs) const {
  const std::int64_t queries = inputs[0][Dim::w];
  return 2 * pairs(queries, inputs[1][Dim::w]) / queries;
}

PhaseWork Attention::work(const ShardShape& shard, Phase phase) const {
  const bool forward = phase == Phase::forward;
  if (!forward && phase != Phase::backward_data) return {};
  return shard.kernels.fused_attention() ? fused_work(shard, forward)
                                         : unfused_work(shard, forward);
}

// q k' and p v; p again, then the gradients of v, p, q and k.
PhaseWork Attention::fused_work(const ShardShape& shard, bool forward) const {
  const std::int64_t queries = shard.inputs[0][Dim::w], keys = shard.inputs[1][Dim::w];
  const std::int64_t tensors = shard.in() + shard.out();
  PhaseWork work = shard.elements(forward ? tensors : 2 * tensors);
  if (queries == 0) return work;
  const std::int64_t heads = shard.output[Dim::n] * shard.output[Dim::c] / head_size;
  const std::int64_t seen = 2 * pairs(queries, keys) / queries;
  work.direct = {heads, queries, seen, forward ? head_size : 5 * head_size / 2};
  return work;
}

// The same products, of all queries and keys, masked or not; p is kept. Each product and the
// softmax between them write the scores and read what the one before wrote; so does a dropout, and
// a softcap's division, tanh and product, whose gradient reads the tanh, too.
PhaseWork Attention::unfused_work(const ShardShape& shard, bool forward) const {
  const std::int64_t queries = shard.inputs[0][Dim::w], keys = shard.inputs[1][Dim::w];
  const std::int64_t heads = shard.output[Dim::n] * shard.output[Dim::c] / head_size;
  const std::int64_t scores = heads * queries * keys;
  const std::int64_t tensors = shard.in() + shard.out();
  const std::int64_t capping = softcap == 0 ? 0 : forward ? 6 : 7;
  const std::int64_t passes = (forward ? 4 : 7) + (dropout > 0 ? 2 : 0) + capping;
  PhaseWork work = shard.elements((forward ? tensors : 2 * tensors) + passes * scores);
  // Two products (four), the masked softmax, a dropout, and tensors laid out by heads and back.
  work.kernels = (forward ? 3 + 4 : 5 + 4) + (dropout > 0 ? 1 : 0) + (softcap > 0 ? 3 : 0);
  if (dropout > 0) work.bytes += Bytes{scores};
  work.direct = {heads, queries, 2 * keys, forward ? head_size : 2 * head_size};
  return work;
}

std::string Attention::cost_attributes() const {
  return attribute_text("head_size", head_size) + attribute_text("causal", causal) +
         attribute_text("window", window) + attribute_text("rotary", rotary > 0) +
         (dropout > 0 ? attribute_text("dropout", 1) : std::string()) +
         (softcap > 0 ? attribute_text("softcap", 1) : std::string());
}

Extents Attention::units(InputExtents inputs) const {
  Extents units{};
  units[Dim::c] = inputs[0][Dim::c] / head_size;
  return units;
}

}  // namespace strata
