#include "sim/graph/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

void check_heads(std::string_view of, const Extents& tensor, std::int64_t size,
                 std::string_view size_name) {
  if (tensor[Dim::d] != 1 || tensor[Dim::h] != 1) {
    fail("attention takes {} of (n, c, w), not {}", of, show(tensor));
  }
  if (tensor[Dim::c] % size == 0) return;
  fail("attention takes {} of whole heads: their {} channels are no multiple of {} {}", of,
       tensor[Dim::c], size_name, size);
}

}  // namespace

Extents Attention::output(InputExtents inputs) const {
  check_range("head_size", head_size, 1, kMaxExtent);
  check_range("value_size", value_size, 0, kMaxExtent);
  check_range("shared_size", shared_size, 0, head_size - 1);
  check_range("window", window, 0, kMaxExtent);
  check_finite("rotary", rotary);
  if (!(dropout >= 0 && dropout < 1)) fail("dropout must be in [0, 1)");
  check_turned();
  check_parameters();
  check_finite("scale", scale);
  if (scale < 0) fail("scale must not be negative");
  check_finite("softcap", softcap);
  if (softcap < 0) fail("softcap must not be negative");
  if (window > 0 && !causal) fail("a window needs causal = true");
  check_inputs(inputs);
  const Extents &queries = inputs[0], &keys = inputs[1];
  if (bounded_product(queries[Dim::w], keys[Dim::w], kMaxMacs / 4) < 0) {
    fail("attention of {} positions to {} is too large", queries[Dim::w], keys[Dim::w]);
  }
  if (causal && queries[Dim::w] != keys[Dim::w]) {
    fail("causal attention takes as many keys as queries, not {} and {}", keys[Dim::w],
         queries[Dim::w]);
  }
  Extents out = queries;
  out[Dim::c] = queries[Dim::c] / head_size * output_size();
  return out;
}

void Attention::check_inputs(InputExtents inputs) const {
  if (shared_size == 0 && inputs.size() != 3) {
    fail("attention takes queries, keys and values, not {} inputs", inputs.size());
  }
  if (shared_size > 0 && inputs.size() != 4) {
    fail(
        "attention with shared_size takes queries, keys, values and what keys share, not {} inputs",
        inputs.size());
  }
  const Extents &queries = inputs[0], &keys = inputs[1], &values = inputs[2];
  check_heads("queries", queries, head_size, "head_size");
  check_heads("keys", keys, own_key_size(),
              shared_size > 0 ? "head_size - shared_size" : "head_size");
  check_heads("values", values, output_size(), value_size > 0 ? "value_size" : "head_size");
  const std::int64_t heads = queries[Dim::c] / head_size, of_keys = keys[Dim::c] / own_key_size();
  Extents wanted = keys;
  wanted[Dim::c] = of_keys * output_size();
  if (values != wanted) {
    fail("attention takes values of {} for keys of {}, not {}", show(wanted), show(keys),
         show(values));
  }
  if (heads % of_keys != 0) {
    fail("each head of keys serves equally many of queries: {} heads are no multiple of {}", heads,
         of_keys);
  }
  if (shared_size == 0) return;
  wanted[Dim::c] = shared_size;
  if (inputs[3] == wanted) return;
  fail("attention takes {} channels that keys share, {}, not {}", shared_size, show(wanted),
       show(inputs[3]));
}

void Attention::check_turned() const {
  if (rotary < 0) fail("rotary must not be negative");
  if (rotary_size > 0) check_range("rotary_size", rotary_size, 1, head_size);
  if (rotary_size > 0 && rotary == 0)
    fail("rotary_size needs rotary, the base of rotary positions");
  if (rotary_size > 0 && shared_size > 0) fail("rotary_size needs keys that share no channels");
  if (turned().size() % 2 == 0) return;
  fail("rotary positions need an even {}", rotary_size > 0   ? "rotary_size"
                                           : shared_size > 0 ? "shared_size"
                                                             : "head_size");
}

void Attention::check_parameters() const {
  check_range("buckets", buckets, 0, kMaxExtent);
  check_range("max_distance", max_distance, 1, kMaxExtent);
  if (!bias_of.empty() && buckets == 0) fail("bias_of needs buckets");
  if (buckets == 0) return;
  if (sinks) fail("an attention has sinks or buckets, not both");
  if (rotary > 0 || softcap > 0 || shared_size > 0) {
    fail("buckets need an attention without rotary, softcap and shared_size");
  }
  const std::int64_t each = causal ? buckets : buckets / 2;
  if (each < 2 || (!causal && buckets % 2 != 0)) {
    fail("buckets must be {}, not {}", causal ? "2 or more" : "even and 4 or more", buckets);
  }
  if (max_distance <= each / 2) {
    fail("max_distance must be more than the {} distances that have buckets of their own, not {}",
         each / 2, max_distance);
  }
}

std::int64_t Attention::bucket_of(std::int64_t distance) const {
  const std::int64_t each = causal ? buckets : buckets / 2;
  const std::int64_t first = !causal && distance > 0 ? each : 0;
  const std::int64_t far = causal ? std::max<std::int64_t>(0, -distance) : std::abs(distance);
  const std::int64_t own = each / 2;
  if (far < own) return first + far;
  const double ratio = std::log(static_cast<double>(far) / static_cast<double>(own)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(own));
  constexpr double kRounding = 1e-9;  // a ratio may be a whole number of buckets
  const auto behind =
      static_cast<std::int64_t>(ratio * static_cast<double>(each - own) * (1 + kRounding));
  return first + std::min(own + behind, each - 1);
}

Parameters Attention::parameters(InputExtents inputs) const {
  const std::int64_t row = sinks ? 1 : buckets;
  if (row == 0) return {};
  return {.weight = inputs[0][Dim::c] / head_size * row, .channels_a_row = output_size()};
}

Interval Attention::turned() const {
  if (rotary == 0) return {0, 0};
  if (shared_size > 0) return {own_key_size(), head_size};
  return {0, rotary_size > 0 ? rotary_size : head_size};
}

double Attention::score_scale() const {
  return scale > 0 ? scale : 1 / std::sqrt(static_cast<double>(head_size));
}

AccessMap Attention::reads(const ReadContext& context) const {
  AccessMap map;
  if (context.input == 3) {
    map.dims[Dim::c] = access::Whole{};
  } else {
    const std::int64_t size = context.input == 0   ? head_size
                              : context.input == 1 ? own_key_size()
                                                   : output_size();
    const std::int64_t heads = context.output[Dim::c] / output_size();
    const std::int64_t served = heads / (context.extents[Dim::c] / size);
    map.dims[Dim::c] = access::Blocks{served * output_size(), size};
  }
  if (context.input == 0) return map;
  const std::int64_t before = window > 0 ? window - 1 : context.extents[Dim::w];
  if (causal) {
    map.dims[Dim::w] = access::Neighbours{before, 0};
  } else {
    map.dims[Dim::w] = access::Whole{};
  }
  return map;
}

Saved Attention::saved(const SavedContext& of) const {
  const std::int64_t rows = volume(of.output) / output_size();
  if (of.kernels.fused_attention()) return {.values = rows, .elements = whole_keys(of)};
  std::int64_t keys = of.inputs[1][Dim::w];
  if (causal) {
    const Interval queries = of.output[Dim::w];
    keys = window > 0 ? std::min(queries.size() + window - 1, queries.end) : queries.end;
  }
  const std::int64_t scores = rows * keys;
  const std::int64_t kept = 1 + (dropout > 0 ? 1 : 0) + (softcap > 0 ? 1 : 0);
  return {.elements = kept * scores + whole_keys(of),
          .masks = dropout > 0 && of.kernels.keeps_masks ? scores : 0};
}

// Whoever turns them before the attention writes each key whole. Of a causal attention those up to
// its last query.
std::int64_t Attention::whole_keys(const SavedContext& of) const {
  if (shared_size == 0 || of.kernels.rotary == RotaryKernel::within) return 0;
  const Interval positions = of.output[Dim::w];
  const std::int64_t keys = causal ? positions.end : of.inputs[1][Dim::w];
  return volume(of.output) / positions.size() / output_size() * keys * shared_size;
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
  const std::int64_t queries = inputs[0][Dim::w], seen = pairs(queries, inputs[1][Dim::w]);
  if (head_size == output_size()) return 2 * seen / queries;
  const double keys = static_cast<double>(seen) / static_cast<double>(queries);
  return std::llround(keys * static_cast<double>(head_size + output_size()) /
                      static_cast<double>(output_size()));
}

PhaseWork Attention::work(const ShardShape& shard, Phase phase) const {
  const bool forward = phase == Phase::forward;
  if (phase == Phase::backward_weights) return parameter_work(shard);
  if (!forward && phase != Phase::backward_data) return {};
  return shard.kernels.fused_attention() ? fused_work(shard, forward)
                                         : unfused_work(shard, forward);
}

// Of a sink, a number for each query; of buckets, a pass over the gradients of all scores.
PhaseWork Attention::parameter_work(const ShardShape& shard) const {
  const std::int64_t rows = volume(shard.output) / output_size();
  if (sinks) return shard.elements(2 * rows);
  if (buckets == 0) return {};
  return shard.elements(rows * shard.inputs[1][Dim::w]);
}

// q k' and p v; p again, then the gradients of v, p, q and k.
PhaseWork Attention::fused_work(const ShardShape& shard, bool forward) const {
  const std::int64_t queries = shard.inputs[0][Dim::w], keys = shard.inputs[1][Dim::w];
  const std::int64_t tensors = shard.in() + shard.out();
  PhaseWork work = shard.elements(forward ? tensors : 2 * tensors);
  if (queries == 0) return work;
  const std::int64_t heads = shard.output[Dim::n] * shard.output[Dim::c] / output_size();
  const std::int64_t seen = 2 * pairs(queries, keys) / queries;
  const std::int64_t channels =
      forward ? head_size + output_size() : 3 * head_size + 2 * output_size();
  work.direct = {heads, queries, seen, channels / 2};
  return work;
}

// The same products, of all queries and keys, masked or not; p is kept. Each product and the
// softmax between them write the scores and read what the one before wrote; so does a dropout, and
// a softcap's division, tanh and product, whose gradient reads the tanh, too.
PhaseWork Attention::unfused_work(const ShardShape& shard, bool forward) const {
  const std::int64_t queries = shard.inputs[0][Dim::w], keys = shard.inputs[1][Dim::w];
  const std::int64_t heads = shard.output[Dim::n] * shard.output[Dim::c] / output_size();
  const std::int64_t scores = heads * queries * keys;
  const std::int64_t tensors = shard.in() + shard.out();
  const std::int64_t capping = softcap == 0 ? 0 : forward ? 6 : 7;
  const std::int64_t adding = buckets > 0 && forward ? 2 : 0;  // of buckets' numbers
  const std::int64_t passes = (forward ? 4 : 7) + (dropout > 0 ? 2 : 0) + capping + adding;
  PhaseWork work = shard.elements((forward ? tensors : 2 * tensors) + passes * scores);
  // Two products (four), the masked softmax, a dropout, and tensors laid out by heads and back.
  work.kernels = (forward ? 3 + 4 : 5 + 4) + (dropout > 0 ? 1 : 0) + (softcap > 0 ? 3 : 0) +
                 (adding > 0 ? 1 : 0);
  if (dropout > 0) work.bytes += Bytes{scores};
  const std::int64_t channels = head_size + output_size();
  work.direct = {heads, queries, 2 * keys, forward ? channels / 2 : channels};
  return work;
}

std::string Attention::cost_attributes() const {
  return attribute_text("head_size", head_size) + attribute_text("causal", causal) +
         attribute_text("window", window) + attribute_text("rotary", rotary > 0) +
         (dropout > 0 ? attribute_text("dropout", 1) : std::string()) +
         (softcap > 0 ? attribute_text("softcap", 1) : std::string()) +
         (value_size > 0 ? attribute_text("value_size", value_size) : std::string()) +
         (shared_size > 0 ? attribute_text("shared_size", shared_size) : std::string()) +
         (buckets > 0 ? attribute_text("buckets", 1) : std::string());
}

Extents Attention::units(InputExtents inputs) const {
  Extents units{};
  units[Dim::c] = inputs[0][Dim::c] / head_size;
  return units;
}

}  // namespace strata
