#include "exec/cpu/position_norm.h"

#include <algorithm>

#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

/// The norms of a sample's positions.
PlaceNorms of_sample(const PlaceNorms& norms, const Tensor& x, std::int64_t n) {
  return {norms.mean + n * x.plane(), norms.inverse + n * x.plane()};
}

}  // namespace

PositionNorm::PositionNorm(const ShardSpec& spec)
    : channels_(spec.output[Dim::c].size()),
      positions_(volume(spec.output) / channels_),
      count_(static_cast<double>((*spec).output[Dim::c])) {}

const BlockLoops& PositionNorm::loops_of(const Tensor& x) const {
  return x.block() == 1 ? loops().singles : loops().blocks;
}

ChannelBlocks PositionNorm::blocks_of(const Tensor& x) const {
  return {channels_, x.plane(), x.plane() * x.block()};
}

const float* PositionNorm::zeros() {
  zeros_.resize(static_cast<std::size_t>(2 * positions_));
  return zeros_.data();
}

const float* PositionNorm::padded(const Tensor& x, std::span<const float> values, float absent,
                                  std::vector<float>& held) const {
  held.assign(static_cast<std::size_t>(x.blocks() * x.block()), 0.0F);
  if (values.empty()) std::fill_n(held.begin(), channels_, absent);
  std::copy(values.begin(), values.end(), held.begin());
  return held.data();
}

// Around a value of the position's own: sums of squares around zero would lose what varies.
void PositionNorm::moments(const Tensor& x, float* sums) {
  near_.resize(static_cast<std::size_t>(x.plane()));
  const auto channels = static_cast<double>(channels_);
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n, sums += 2 * x.plane()) {
    const float* const values = x.block_at(n, 0);
    for (std::int64_t p = 0; p < x.plane(); ++p) {
      near_[static_cast<std::size_t>(p)] = values[p * x.block()];
    }
    loops_of(x).place_moments(blocks_of(x), values, near_.data(), sums);
    for (std::int64_t p = 0; p < x.plane(); ++p) {
      const double away = static_cast<double>(sums[2 * p]) / channels;
      const double squares = static_cast<double>(sums[2 * p + 1]);
      sums[2 * p] =
          static_cast<float>(static_cast<double>(near_[static_cast<std::size_t>(p)]) + away);
      sums[2 * p + 1] = static_cast<float>(std::max(0.0, squares - away * away * channels));
    }
  }
}

void PositionNorm::squares(const Tensor& x, float* sums) {
  const float* const none = zeros();
  pairs_.resize(static_cast<std::size_t>(2 * x.plane()));
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n, sums += x.plane()) {
    loops_of(x).place_moments(blocks_of(x), x.block_at(n, 0), none, pairs_.data());
    for (std::int64_t p = 0; p < x.plane(); ++p) {
      sums[p] = pairs_[static_cast<std::size_t>(2 * p + 1)];
    }
  }
}

void PositionNorm::normalize(const Tensor& x, const PlaceNorms& norms, std::span<const float> scale,
                             std::span<const float> shift, const Tensor& y) {
  const float* const by = padded(x, scale, 1, scale_);
  const float* const more = padded(x, shift, 0, shift_);
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
    for (std::int64_t block = 0; block < x.blocks(); ++block) {
      loops_of(x).normalize_places(of_sample(norms, x, n), by + block * x.block(),
                                   more + block * x.block(), x.block_at(n, block), x.plane(),
                                   y.block_at(n, block));
    }
  }
}

void PositionNorm::products(const Tensor& x, const Tensor& dy, const PlaceNorms& norms,
                            std::span<const float> scale, float* sums) {
  const float* const by = padded(x, scale, 1, scale_);
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
    loops_of(x).place_products(blocks_of(x), dy.block_at(n, 0), x.block_at(n, 0), by,
                               of_sample(norms, x, n), sums + 2 * n * x.plane());
  }
}

void PositionNorm::gradient(const Tensor& x, const Tensor& dy, const PlaceNorms& norms,
                            std::span<const float> scale, const float* sums, const Tensor& dx) {
  const float* const by = padded(x, scale, 1, scale_);
  const auto share = static_cast<float>(1 / count_);
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
    for (std::int64_t block = 0; block < x.blocks(); ++block) {
      loops_of(x).normalize_places_gradient(of_sample(norms, x, n), by + block * x.block(),
                                            sums + 2 * n * x.plane(), share, dy.block_at(n, block),
                                            x.block_at(n, block), x.plane(), dx.block_at(n, block));
    }
  }
  zero_unused(dx);
}

void PositionNorm::parameter_gradients(const Tensor& x, const Tensor& dy, const PlaceNorms& norms,
                                       bool adds, float* of_scale, float* of_shift) const {
  const std::int64_t lanes = x.block();
  const auto put = [adds](float& to, double sum) {
    to = adds ? to + static_cast<float>(sum) : static_cast<float>(sum);
  };
  std::vector<double> sums(static_cast<std::size_t>(2 * lanes));
  for (std::int64_t block = 0; block < x.blocks(); ++block) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
      loops_of(x).scale_products(of_sample(norms, x, n), dy.block_at(n, block),
                                 x.block_at(n, block), x.plane(), sums.data());
    }
    const std::int64_t first = block * lanes, count = std::min(lanes, channels_ - first);
    for (std::int64_t k = 0; k < count; ++k) {
      put(of_scale[first + k], sums[static_cast<std::size_t>(k)]);
      if (of_shift == nullptr) continue;
      put(of_shift[first + k], sums[static_cast<std::size_t>(lanes + k)]);
    }
  }
}

}  // namespace strata::cpu
