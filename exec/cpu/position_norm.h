#pragma once

// Norms of each position (n, d, h, w) over its channels: what layer norms and RMS norms share. With
// x^ = (x - mean) inverse and g = scale dy, mean and inverse of each position. One thread each.

#include <cstdint>
#include <span>
#include <vector>

#include "exec/cpu/loops.h"
#include "exec/cpu/tensor.h"
#include "exec/runtime/kernel.h"

namespace strata::cpu {

class PositionNorm {
 public:
  explicit PositionNorm(const ShardSpec& spec);

  std::int64_t channels() const { return channels_; }  ///< of the shard
  std::int64_t positions() const { return positions_; }
  double count() const { return count_; }  ///< channels of the whole layer

  /// sums[2p]: the mean of the shard's channels, sums[2p + 1]: the sum of squared distances from
  /// it.
  void moments(const Tensor& x, float* sums);
  /// sums[p]: the sum of squares.
  void squares(const Tensor& x, float* sums);
  /// y = x^ scale + shift; no scale: 1, no shift: 0.
  void normalize(const Tensor& x, const PlaceNorms& norms, std::span<const float> scale,
                 std::span<const float> shift, const Tensor& y);
  /// sums[2p]: the sum of g, sums[2p + 1]: that of g x^.
  void products(const Tensor& x, const Tensor& dy, const PlaceNorms& norms,
                std::span<const float> scale, float* sums);
  /// dx = (g - sums[2p] / count - x^ sums[2p + 1] / count) inverse
  void gradient(const Tensor& x, const Tensor& dy, const PlaceNorms& norms,
                std::span<const float> scale, const float* sums, const Tensor& dx);
  /// The sums of dy x^ and, where it is wanted, of dy; or added to what lies there.
  void parameter_gradients(const Tensor& x, const Tensor& dy, const PlaceNorms& norms, bool adds,
                           float* of_scale, float* of_shift) const;

  /// Zeros, for each position two.
  const float* zeros();

 private:
  const BlockLoops& loops_of(const Tensor& x) const;
  ChannelBlocks blocks_of(const Tensor& x) const;
  /// As many values as x has lanes, those beyond a shard's channels 0.
  const float* padded(const Tensor& x, std::span<const float> values, float absent,
                      std::vector<float>& held) const;

  std::int64_t channels_, positions_;
  double count_;
  std::vector<float> near_, pairs_, zeros_, scale_, shift_;
};

}  // namespace strata::cpu
