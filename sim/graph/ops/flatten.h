#pragma once

#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// (n, c, d, h, w) to (n, c d h w), row-major.
struct Flatten {
  bool operator==(const Flatten&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "flatten"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return {.dims = {}, .row_major = true}; }
  PhaseWork work(const ShardShape&, Phase) const { return {}; }
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

}  // namespace strata
