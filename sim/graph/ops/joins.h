#pragma once

#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// Joins its inputs along the channels.
struct Concat {
  bool operator==(const Concat&) const = default;

  static constexpr OpTraits kTraits{.summary = "concat"};
  std::string_view name() const { return "concat"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext& context) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

/// The sum of its inputs, element by element.
struct Add {
  bool operator==(const Add&) const = default;

  static constexpr OpTraits kTraits{.reads_all_alike = true, .summary = "add"};
  std::string_view name() const { return "add"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

/// The product of two tensors, element by element; the second may be a gate, which has one value
/// for each channel of each sample (its d, h and w are 1) or for each position (its c is 1).
struct Multiply {
  bool operator==(const Multiply&) const = default;

  static constexpr OpTraits kTraits{.reads_all_alike = true, .summary = "multiply"};
  std::string_view name() const { return "multiply"; }
  Extents output(InputExtents inputs) const;
  /// Of a gate, one element for all d, h and w, or for all c.
  AccessMap reads(const ReadContext& context) const;
  BackwardReads backward_reads() const { return {.inputs = true}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

}  // namespace strata
