#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// Scaled dot-product attention of several heads: of queries (n, c, w), keys and values (n, k, w'),
/// whose channels are heads of `head_size` each, softmax(scale q k') v. Where there are fewer heads
/// of keys than of queries, each serves a group of neighbours (grouped queries). Of a latent
/// attention (DeepSeek-AI, "DeepSeek-V2", 2024) heads of values have another size, and the last
/// channels of a key are the same for all heads: a fourth input (n, shared_size, w').
///
/// It may have parameters, a row for each head of queries: a sink, a score without a key, which
/// takes its share of the softmax (Xiao et al., "StreamingLLM", 2024; gpt-oss), or a number for
/// each bucket of distances, which is added to the scores of keys that far (Raffel et al., "T5",
/// 2020).
struct Attention {
  std::int64_t head_size = 64;
  bool causal = false;      ///< a position sees itself and those before it
  std::int64_t window = 0;  ///< causal: so many positions, itself among them; 0: all
  /// The base of rotary positions, by which pairs of channels (i, i + r/2) of the r that are turned
  /// of queries and keys are turned; 0: none.
  double rotary = 0;
  double dropout = 0;  ///< the probability by which a softmax's element is set to zero
  /// How many of a head's channels are turned, the first; 0: all, or where keys share channels
  /// these, the last.
  std::int64_t rotary_size = 0;
  double scale = 0;    ///< what multiplies the products; 0: 1 / sqrt(head_size)
  double softcap = 0;  ///< the softmax is of softcap tanh(s / softcap) for each product s; 0: of s
  std::int64_t value_size = 0;   ///< channels of a head of values and of the output; 0: head_size
  std::int64_t shared_size = 0;  ///< channels of a key that all heads share, its last
  bool sinks = false;            ///< each head has a sink
  std::int64_t buckets = 0;      ///< of distances, for which each head has a number; 0: none
  std::int64_t max_distance = 128;  ///< those from it on have one bucket
  std::string bias_of = {};  ///< the layer whose numbers of buckets are these; its own where empty
  bool operator==(const Attention&) const = default;

  static constexpr OpTraits kTraits{.summary = "attention"};
  std::string_view name() const { return "attention"; }
  /// Channels of a head of keys that are its own, and of values.
  std::int64_t own_key_size() const { return head_size - shared_size; }
  std::int64_t output_size() const { return value_size > 0 ? value_size : head_size; }
  /// Channels of a head that rotary positions turn.
  Interval turned() const;
  /// What multiplies the products of queries and keys.
  double score_scale() const;
  /// Of a key that lies `distance` positions behind its query: half of the buckets for small
  /// distances, of one each, the others in equal ratios; of an attention that is not causal again
  /// half of both for keys before the query and for those behind it.
  std::int64_t bucket_of(std::int64_t distance) const;
  /// A row for each head.
  Parameters parameters(InputExtents inputs) const;
  /// As the queries, with heads of the values' size.
  Extents output(InputExtents inputs) const;
  /// Whole heads; along w the queries' own positions, of keys and values those that these see.
  AccessMap reads(const ReadContext& context) const;
  BackwardReads backward_reads() const {
    return {.inputs = true, .output = true, .parameters = sinks || buckets > 0};
  }
  /// The logarithm of each softmax's sum, of each head and position: (n, heads, w); of keys that
  /// share channels what makes each whole where a kernel before it does. Unfused, the softmax's
  /// elements (n, heads, w, w'), what a dropout leaves of them, and a softcap's tanh.
  Saved saved(const SavedContext& of) const;
  /// Of the two products of a head, with the keys that a query sees on average.
  std::int64_t macs_per_output(InputExtents inputs) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  /// Along c the heads, which are not cut.
  Extents units(InputExtents inputs) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("head_size", head_size, std::nullopt);
    v.flag("causal", causal, false);
    v.count("window", window, 0);
    v.number("rotary", rotary, 0.0);
    v.number("dropout", dropout, 0.0);
    v.count("rotary_size", rotary_size, 0);
    v.number("scale", scale, 0.0);
    v.number("softcap", softcap, 0.0);
    v.count("value_size", value_size, 0);
    v.count("shared_size", shared_size, 0);
    v.flag("sinks", sinks, false);
    v.count("buckets", buckets, 0);
    v.count("max_distance", max_distance, 128);
    v.name("bias_of", bias_of);
  }

 private:
  void check_turned() const;
  void check_parameters() const;
  void check_inputs(InputExtents inputs) const;
  /// Elements of keys that are made whole from what they share, beside the inputs.
  std::int64_t whole_keys(const SavedContext& of) const;
  /// How many keys all queries see together, of the last `queries` positions of `keys`.
  std::int64_t pairs(std::int64_t queries, std::int64_t keys) const;
  PhaseWork parameter_work(const ShardShape& shard) const;
  PhaseWork fused_work(const ShardShape& shard, bool forward) const;
  PhaseWork unfused_work(const ShardShape& shard, bool forward) const;
};

}  // namespace strata
