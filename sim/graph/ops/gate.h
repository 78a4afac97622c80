#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

enum class GateKind : std::uint8_t { silu, gelu };

/// A gated activation of two tensors of equal extents: f(first) second, element by element.
struct GatedActivation {
  GateKind kind = GateKind::silu;
  bool operator==(const GatedActivation&) const = default;

  static constexpr OpTraits kTraits{.summary = "gate"};
  std::string_view name() const { return kind == GateKind::silu ? "swiglu" : "geglu"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  BackwardReads backward_reads() const { return {.inputs = true}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
  static std::vector<GatedActivation> prototypes();
};

}  // namespace strata
