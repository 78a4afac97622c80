#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// y = W x + b over the channels of each position; (n, c, d, h, w) to (n, out_features, d, h, w).
/// Where several read one tensor (the query, key and value of an attention) and are cut alike, it
/// is gathered once for all, and one sum of their gradients goes back.
struct Linear {
  std::int64_t out_features = 0;
  bool bias = true;
  /// The layer whose weight it shares, an embedding of as many numbers and features; its own where
  /// empty. Then there is no bias.
  std::string weight_of = {};
  bool operator==(const Linear&) const = default;

  static constexpr OpTraits kTraits{.shares_reading = true, .casts = true, .summary = "linear"};
  std::string_view name() const { return "linear"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  BackwardReads backward_reads() const { return {.inputs = true, .inputs_for_parameters = true}; }
  /// The input's channels.
  std::int64_t macs_per_output(InputExtents inputs) const;
  Parameters parameters(InputExtents inputs) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("out_features", out_features, std::nullopt);
    v.flag("bias", bias, true);
    v.name("weight_of", weight_of);
  }
};

}  // namespace strata
