#include "sim/graph/ops/pooling.h"

#include <array>

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

// One of each mode and rank.
template <class Pool>
std::vector<Pool> all_pools() {
  std::vector<Pool> pools;
  for (PoolMode mode : {PoolMode::max, PoolMode::average}) {
    for (int rank : {1, 2, 3}) pools.push_back({.rank = rank, .mode = mode});
  }
  return pools;
}

// A maximum's gradient looks x and y up again to find where the maximum was.
PhaseWork pool_work(PoolMode mode, const ShardShape& shard, Phase phase) {
  const std::int64_t once = shard.in() + shard.out();
  if (phase == Phase::forward) return shard.elements(once);
  if (phase != Phase::backward_data) return {};
  return shard.elements((mode == PoolMode::max ? 2 : 1) * once);
}

}  // namespace

std::string_view Pooling::name() const {
  if (mode == PoolMode::max) return ranked_name({"max_pool1d", "max_pool2d", "max_pool3d"}, rank);
  return ranked_name({"avg_pool1d", "avg_pool2d", "avg_pool3d"}, rank);
}

Extents Pooling::output(InputExtents inputs) const {
  Extents out = only(inputs);
  check_rank(rank);
  for (Dim dim : kSpatialDims) {
    const Window& window = windows[dim];
    check_window(window, dim, rank);
    check_pool_padding(window, dim);
    if (mode == PoolMode::average && window.dilation != 1) fail("average pooling has no dilation");
    out[dim] = pooled(window, ceil_mode, out[dim], dim);
  }
  return out;
}

AccessMap Pooling::reads(const ReadContext&) const {
  AccessMap map;
  for (Dim dim : kSpatialDims) map.dims[dim] = through(windows[dim]);
  return map;
}

PhaseWork Pooling::work(const ShardShape& shard, Phase phase) const {
  return pool_work(mode, shard, phase);
}

std::string Pooling::cost_attributes() const {
  return attribute_text("kernel", windows, &Window::kernel) +
         attribute_text("stride", windows, &Window::stride);
}

void Pooling::make_canonical() {
  if (mode == PoolMode::max) count_include_pad = true;
}

std::vector<Pooling> Pooling::prototypes() {
  return all_pools<Pooling>();
}

std::string_view AdaptivePooling::name() const {
  if (mode == PoolMode::max) {
    return ranked_name({"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"}, rank);
  }
  return ranked_name({"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"}, rank);
}

Extents AdaptivePooling::output(InputExtents inputs) const {
  Extents out = only(inputs);
  check_rank(rank);
  const std::array<std::int64_t, 3> asked = {d, h, w};
  for (std::size_t k = 0; k < kSpatialDims.size(); ++k) {
    if (!slides_over(kSpatialDims[k], rank)) continue;
    check_range(fmt::format("output {}", word(kSpatialDims[k])), asked[k], 1, kMaxExtent);
    out[kSpatialDims[k]] = asked[k];
  }
  return out;
}

AccessMap AdaptivePooling::reads(const ReadContext& context) const {
  AccessMap map;
  for (Dim dim : kSpatialDims) map.dims[dim] = access::Bins{context.output[dim]};
  return map;
}

PhaseWork AdaptivePooling::work(const ShardShape& shard, Phase phase) const {
  return pool_work(mode, shard, phase);
}

void AdaptivePooling::make_canonical() {
  if (rank < 3) d = 1;
  if (rank < 2) h = 1;
}

std::vector<AdaptivePooling> AdaptivePooling::prototypes() {
  return all_pools<AdaptivePooling>();
}

}  // namespace strata
