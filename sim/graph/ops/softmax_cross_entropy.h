#pragma once

#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// Softmax over the channels with cross-entropy against a label for each position, the mean over
/// the batch's positions. Its output, as seen by a Config, is the class probabilities; cut in c,
/// shards exchange each position's maximum and sum (as batch normalisation exchanges statistics).
struct SoftmaxCrossEntropy {
  bool operator==(const SoftmaxCrossEntropy&) const = default;

  static constexpr OpTraits kTraits{.loss = true, .summary = "softmax"};
  std::string_view name() const { return "softmax_cross_entropy"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  BackwardReads backward_reads() const { return {.output = true}; }
  /// The probabilities in fp32, where the output has fewer bits.
  Saved saved(const SavedContext& of) const {
    return {.each_element = element_bytes(of.dtype) < 4};
  }
  /// Each position's maximum and its sum of exponentials; p - y needs no more.
  Statistics statistics(const Box& output) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

}  // namespace strata
