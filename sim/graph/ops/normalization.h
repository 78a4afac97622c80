#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// Of all channels' elements, one channel's.
constexpr std::int64_t positions(const Box& box) {
  return volume(box) / box[Dim::c].size();
}

/// Normalises each channel over n, d, h, w with the whole batch's statistics, whatever the cut.
struct BatchNorm {
  double epsilon = 1e-5;
  bool operator==(const BatchNorm&) const = default;

  static constexpr OpTraits kTraits{.follows_producer = true, .scales_channels = true};
  std::string_view name() const { return "batch_norm"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  BackwardReads backward_reads() const { return {.inputs = true}; }
  /// Forward: each channel's mean and sum of squared distances from it. Backward: the sums of dy
  /// and of dy x-hat.
  Statistics statistics(const Box& output) const;
  /// Each channel's mean, 1 / standard deviation, and scale / standard deviation.
  Saved saved(const SavedContext& of) const { return {.values = 3 * of.output[Dim::c].size()}; }
  /// Scale and shift.
  Parameters parameters(InputExtents inputs) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.number("epsilon", epsilon, 1e-5);
  }
};

/// Normalises each position (n, d, h, w) over its channels.
struct LayerNorm {
  double epsilon = 1e-5;
  bool affine = true;  ///< a scale and a shift for each channel follow
  bool operator==(const LayerNorm&) const = default;

  static constexpr OpTraits kTraits{.scales_channels = true, .summary = "layer_norm"};
  std::string_view name() const { return "layer_norm"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  BackwardReads backward_reads() const { return {.inputs = true}; }
  /// Forward: each position's mean and sum of squared distances from it. Backward: with g = dy
  /// scale, the sums of g and of g x-hat.
  Statistics statistics(const Box& output) const;
  /// Each position's mean, then each one's 1 / standard deviation.
  Saved saved(const SavedContext& of) const { return {.values = 2 * positions(of.output)}; }
  /// Scale and shift, or none.
  Parameters parameters(InputExtents inputs) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.number("epsilon", epsilon, 1e-5);
    v.flag("affine", affine, true);
  }
};

/// Divides each position (n, d, h, w) by the root of the mean of its channels' squares, or each of
/// its heads by that of its own.
struct RmsNorm {
  double epsilon = 1e-5;
  /// Channels of a head, which all have one scale of so many channels; 0: the channels are one.
  std::int64_t head_size = 0;
  bool operator==(const RmsNorm&) const = default;

  static constexpr OpTraits kTraits{.scales_channels = true, .summary = "rms_norm"};
  std::string_view name() const { return "rms_norm"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  BackwardReads backward_reads() const { return {.inputs = true}; }
  /// Forward: each position's sum of squares. Backward: with g = dy scale, the sum of g x-hat.
  /// Heads are not cut, and have none.
  Statistics statistics(const Box& output) const;
  /// Each position's, or head's, 1 / root of the mean square.
  Saved saved(const SavedContext& of) const;
  /// A scale.
  Parameters parameters(InputExtents inputs) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  /// Along c the heads.
  Extents units(InputExtents inputs) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.number("epsilon", epsilon, 1e-5);
    v.count("head_size", head_size, 0);
  }
};

/// Across channels: `size` neighbours, (size-1)/2 before and size/2 after.
struct LocalResponseNorm {
  std::int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
  bool operator==(const LocalResponseNorm&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "lrn"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext& context) const;
  BackwardReads backward_reads() const { return {.inputs = true}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("size", size, 5);
    v.number("alpha", alpha, 1e-4);
    v.number("beta", beta, 0.75);
    v.number("k", k, 1.0);
  }
};

}  // namespace strata
