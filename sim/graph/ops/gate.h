#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

enum class GateKind : std::uint8_t { silu, gelu, clamped };

/// A gated activation of two tensors of equal extents: f(first) second, element by element. The
/// clamped one (gpt-oss) is g / (1 + exp(-alpha g)) (x + 1), where g is the first, at most `limit`,
/// and x the second, from -limit to limit.
struct GatedActivation {
  GateKind kind = GateKind::silu;
  double alpha = 1.702, limit = 7;  ///< of the clamped one
  bool operator==(const GatedActivation&) const = default;

  static constexpr OpTraits kTraits{.summary = "gate"};
  std::string_view name() const;
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  BackwardReads backward_reads() const { return {.inputs = true}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  /// Of kinds without an alpha and a limit, the defaults.
  void make_canonical();
  template <class Visitor>
  void visit_keys(Visitor& v) {
    if (kind != GateKind::clamped) return;
    v.number("alpha", alpha, 1.702);
    v.number("limit", limit, 7.0);
  }
  static std::vector<GatedActivation> prototypes();
};

}  // namespace strata
