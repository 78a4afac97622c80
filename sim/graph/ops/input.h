#pragma once

#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// The network's data; costs nothing to place and gets no gradient.
struct Input {
  Extents extents;  ///< of one sample: n is 1
  bool operator==(const Input&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "input"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }  // never asked: it reads none
  PhaseWork work(const ShardShape&, Phase) const { return {}; }
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.shape("shape", extents);
  }
};

}  // namespace strata
