#include "sim/graph/ops/opaque.h"

#include <algorithm>

#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

void check_kind(const std::string& kind) {
  const bool sound = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](char ch) {
    return static_cast<unsigned char>(ch) >= 0x20 && ch != 0x7f;
  });
  if (!sound) fail("an opaque op needs a kind, without control characters");
}

}  // namespace

Extents Opaque::output(InputExtents inputs) const {
  if (inputs.empty()) fail("opaque takes at least one input");
  check_kind(kind);
  if (extents[Dim::n] != 1) fail("an opaque op's output is of one sample: n must be 1");
  check_range("parameters", elements, 0, kMaxElements);
  Extents out = extents;
  out[Dim::n] = inputs[0][Dim::n];
  return out;
}

// x w y; x w dy dx; x dy dw.
PhaseWork Opaque::work(const ShardShape& shard, Phase phase) const {
  const std::int64_t once = shard.in() + shard.out() + shard.parameters.total();
  if (phase == Phase::forward) return shard.elements(once);
  if (phase == Phase::backward_data) return shard.elements(once + shard.in());
  return phase == Phase::backward_weights ? shard.elements(once) : PhaseWork{};
}

}  // namespace strata
