#include "sim/cost/roofline.h"

#include <algorithm>

#include "sim/base/ceil_div.h"

namespace strata {

Roofline::Roofline(const Profile& profile) {
  const Efficiency& e = profile.efficiency;
  const double fp32 = profile.peaks[static_cast<std::size_t>(DType::fp32)].value().value.value;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const auto& peak = profile.peaks[i];
    units_[i] = {peak ? peak->value.value : fp32, i == 0 || !peak};
  }
  launch_ = e.launch.value.value;
  bandwidth_ = profile.bandwidth.value.value * e.memory.value;
  gemm_ = e.gemm.value, winograd_ = e.winograd.value, direct_ = e.direct.value;
  half_tile_ = e.half_tile.value, half_depth_ = e.half_depth.value;
  split_k_ = static_cast<double>(e.split_k.value), cores_ = static_cast<double>(e.cores.value);
  tile_m_ = e.tile_m.value, tile_n_ = e.tile_n.value;
}

// A core computes a tile of the output at a time, so a product pays for whole tiles, and once for
// the last, half-empty round of tiles over the cores. What is left of the peak falls for narrow
// outputs (few columns to share what was loaded) and for shallow ones (filling the pipeline).
double Roofline::product(const Gemm& gemm, double peak) const {
  if (gemm.m == 0) return 0;  // a shard whose whole input is padding has no gradient to compute
  const std::int64_t rows = ceil_div(gemm.m, tile_m_), columns = ceil_div(gemm.n, tile_n_);
  const double m = static_cast<double>(rows * tile_m_), n = static_cast<double>(columns * tile_n_);
  const double k = static_cast<double>(gemm.k);
  const double tiles =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(gemm.count);
  const double area = static_cast<double>(tile_m_ * tile_n_);
  const double narrow = (m + half_tile_) / m * ((n + half_tile_) / n);
  const double shallow = (k + half_depth_) / k;
  const double tail = cores_ * std::min(k, split_k_);
  return 2 * area * (tiles * k * narrow * shallow + tail) / (peak * gemm_);
}

// The library picks the fastest of its algorithms.
double Roofline::arithmetic(const PhaseWork& work, const Arithmetic& unit) const {
  if (work.direct.count == 0) return 0;
  double best = product(work.direct, unit.peak);
  if (!unit.cuda_cores) return best;
  if (work.grouped) {
    best = std::min(best, work.direct.flops().value / (unit.peak * direct_));
  }
  if (work.winograd.count > 0) {
    const double gain = work.winograd_gain, left = 1 + winograd_ * (gain - 1);
    best = std::min(best, product(work.winograd, unit.peak) * gain / left);
  }
  return best;
}

Seconds Roofline::operator()(const PhaseWork& work, DType dtype) const {
  if (!work.any) return {};
  const double memory = static_cast<double>(work.bytes.value) / bandwidth_;
  return {launch_ + std::max(memory, arithmetic(work, units_[static_cast<std::size_t>(dtype)]))};
}

}  // namespace strata
