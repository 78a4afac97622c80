#pragma once

// Mixtures of experts. A router scores each token for each expert; a dispatch brings tokens to the
// slots of the experts that they chose, whose number is the dim d of the slots' tensor; products
// with a weight for each expert compute there; a combination brings the results back. So experts
// on several devices are a cut of d, and tokens stay cut in n and w.
//
// Tokens fall into `groups` of neighbours in each sample, and every expert has equally many slots
// for each group: a cut of w has whole groups. A token gets the next slot of its expert in the
// order of w; where a group's slots are taken, the expert leaves it out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// Each token's gates: of the scores of all experts, softmax(W x), the `top_k` largest, or, where
/// equal, the first ones, and zero for the others; (n, c, w) to (n, experts, w). In fp32, whatever
/// the tensors' type. DeepSeek-V2 and V3 choose among experts of the best groups of neighbours
/// alone, by a group's best score, or, with a correction, the sum of its two best.
struct Router {
  std::int64_t experts = 0;
  std::int64_t top_k = 1;
  bool normalize = true;  ///< the gates of a token add up to `scale`
  bool sigmoid = false;   ///< the scores are sigmoid(W x)
  /// A number for each expert is added to the scores of the choice, not to gates, so that experts
  /// are chosen evenly. It counts as a parameter (the bias) and has no gradient.
  bool correction = false;
  std::int64_t groups = 1;
  std::int64_t top_groups = 1;  ///< that a token's experts are of
  double scale = 1;             ///< what multiplies the gates
  bool bias = false;            ///< of the product, W x + b; excludes a correction
  bool operator==(const Router&) const = default;

  static constexpr OpTraits kTraits{.summary = "router"};
  std::string_view name() const { return "router"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  BackwardReads backward_reads() const { return {.inputs = true}; }
  Parameters parameters(InputExtents inputs) const;
  /// The input's channels.
  std::int64_t macs_per_output(InputExtents inputs) const;
  /// The scores, whole, those of experts that were not chosen with a minus.
  Saved saved(const SavedContext&) const { return {.each_element = true}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  std::string cost_attributes() const;
  std::string_view why_whole(Dim dim) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("experts", experts, std::nullopt);
    v.count("top_k", top_k, 1);
    v.flag("normalize", normalize, true);
    v.flag("sigmoid", sigmoid, false);
    v.flag("correction", correction, false);
    v.count("groups", groups, 1);
    v.count("top_groups", top_groups, 1);
    v.number("scale", scale, 1.0);
    v.flag("bias", bias, false);
  }

 private:
  void check_choice() const;
};

/// Tokens (n, c, w) and gates (n, experts, w) to slots (n, c, experts, 1, groups x slots of one).
/// An expert takes the tokens whose gate is positive; slots that none takes are zero. The gates
/// get no gradient here.
struct Dispatch {
  std::int64_t top_k = 1;  ///< experts that a token has
  std::int64_t groups = 1;
  /// Slots over what tokens would take if all experts had equally many. Experts / top_k leaves no
  /// token out.
  double capacity = 1;
  bool operator==(const Dispatch&) const = default;

  static constexpr OpTraits kTraits{.gradient_of_first_alone = true, .summary = "dispatch"};
  std::string_view name() const { return "dispatch"; }
  Extents output(InputExtents inputs) const;
  /// The tokens of whole groups, and the gates of all experts.
  AccessMap reads(const ReadContext& context) const;
  /// Which token each slot has: its place in the group, from 0, or -1; (n, experts, slots).
  Saved saved(const SavedContext& of) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  Extents units(InputExtents) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("top_k", top_k, 1);
    v.count("groups", groups, 1);
    v.number("capacity", capacity, 1.0);
  }

 private:
  /// Of an expert, for a group of so many tokens.
  std::int64_t slots_of(std::int64_t tokens, std::int64_t experts) const;
};

/// y = W x + b of each expert, over the channels of each of its slots; (n, c, experts, 1, slots) to
/// (n, out_features, experts, 1, slots). The weight (experts, out_features, c) and the bias
/// (experts, out_features) carry the experts.
struct ExpertLinear {
  std::int64_t out_features = 0;
  bool bias = false;
  bool operator==(const ExpertLinear&) const = default;

  static constexpr OpTraits kTraits{.shares_reading = true, .casts = true, .summary = "experts"};
  std::string_view name() const { return "expert_linear"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  BackwardReads backward_reads() const { return {.inputs = true, .inputs_for_parameters = true}; }
  Parameters parameters(InputExtents inputs) const;
  /// The input's channels.
  std::int64_t macs_per_output(InputExtents inputs) const;
  /// A product for each expert.
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("out_features", out_features, std::nullopt);
    v.flag("bias", bias, false);
  }
};

/// Slots (n, c, experts, 1, slots), and the gates by which they were taken, to tokens (n, c, w):
/// the sum over a token's experts of gate times slot.
struct Combine {
  std::int64_t groups = 1;
  bool operator==(const Combine&) const = default;

  static constexpr OpTraits kTraits{.summary = "combine"};
  std::string_view name() const { return "combine"; }
  Extents output(InputExtents inputs) const;
  /// The slots and the gates of whole groups.
  AccessMap reads(const ReadContext& context) const;
  BackwardReads backward_reads() const { return {.inputs = true}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  Extents units(InputExtents) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("groups", groups, 1);
  }
};

}  // namespace strata
