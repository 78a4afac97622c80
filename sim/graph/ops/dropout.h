#pragma once

#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// Sets elements to zero at random, and scales the others.
struct Dropout {
  double probability = 0.5;
  bool operator==(const Dropout&) const = default;

  static constexpr OpTraits kTraits{.elementwise = true};
  std::string_view name() const { return "dropout"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  /// A mask, where the kernels keep it.
  Saved saved(const SavedContext& of) const {
    return {.masks = of.kernels.keeps_masks ? volume(of.output) : 0};
  }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.number("probability", probability, 0.5);
  }
};

}  // namespace strata
