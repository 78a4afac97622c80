#include "sim/graph/ops/opaque.h"

#include <algorithm>

#include "sim/base/ceil_div.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

void check_kind(const std::string& kind) {
  const bool sound = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](char ch) {
    return static_cast<unsigned char>(ch) >= 0x20 && ch != 0x7f;
  });
  if (!sound) fail("an opaque op needs a kind, without control characters");
}

// y = x w; dx = dy w'; dw = x' dy.
Gemm product(const Opaque& op, const ShardShape& shard, Phase phase) {
  if (op.macs == 0) return {};
  const std::int64_t rows = ceil_div(shard.out(), op.columns);
  if (phase == Phase::forward) return {1, rows, op.columns, op.macs};
  if (phase == Phase::backward_weights) return {1, op.macs, op.columns, rows};
  return {shard.parameters.total() > 0 ? 1 : 2, rows, op.macs, op.columns};
}

}  // namespace

Extents Opaque::output(InputExtents inputs) const {
  if (inputs.empty()) fail("opaque takes at least one input");
  check_kind(kind);
  if (extents[Dim::n] != 1) fail("an opaque op's output is of one sample: n must be 1");
  check_range("parameters", elements, 0, kMaxElements);
  check_range("macs", macs, 0, kMaxElements);
  check_range("columns", columns, 1, kMaxElements);
  Extents out = extents;
  out[Dim::n] = inputs[0][Dim::n];
  return out;
}

// x w y; x w dy dx; x dy dw.
PhaseWork Opaque::work(const ShardShape& shard, Phase phase) const {
  const bool data = phase == Phase::backward_data;
  if (phase != Phase::forward && !data && phase != Phase::backward_weights) return {};
  const std::int64_t once = shard.in() + shard.out() + shard.parameters.total();
  PhaseWork work = shard.elements(once + (data ? shard.in() : 0));
  work.direct = product(*this, shard, phase);
  return work;
}

}  // namespace strata
