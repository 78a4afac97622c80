#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// y = W x + b over all of c, d, h, w of its input; output (n, c).
struct FullyConnected {
  std::int64_t out_features = 0;
  bool bias = true;
  bool operator==(const FullyConnected&) const = default;

  static constexpr OpTraits kTraits{.summary = "fc"};
  std::string_view name() const { return "fc"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kReducedChannels; }
  BackwardReads backward_reads() const { return {.inputs = true, .inputs_for_parameters = true}; }
  /// The input's features.
  std::int64_t macs_per_output(InputExtents inputs) const;
  Parameters parameters(InputExtents inputs) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("out_features", out_features, std::nullopt);
    v.flag("bias", bias, true);
  }
};

}  // namespace strata
