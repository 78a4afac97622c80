#pragma once

// The heads of an attention's tensors, one after another, brought into the form that block_products
// works on: (positions, channels) in channel blocks, the channels rounded up to whole blocks with
// zeros; rotary positions turned on the way, and back.

#include <cstdint>
#include <vector>

#include "exec/cpu/tensor.h"
#include "sim/geometry/geometry.h"

namespace strata::cpu {

/// Cosines and sines of rotary positions: of a head's channels that are turned, r in number, pair i
/// of r / 2 at position p has the angle p base^(-2 i / r) (Su et al., "RoFormer", 2021). Without a
/// base nothing turns.
class Rotary {
 public:
  Rotary() = default;
  /// `channels`: of a head, those that are turned.
  Rotary(double base, Interval channels, Interval positions);

  /// Turns pairs (i, i + half of the channels) of a head of all the positions; `way`: -1 turns
  /// back.
  void turn(float* head, float way) const;

 private:
  std::int64_t first_ = 0, half_ = 0, positions_ = 0;
  std::vector<float> cosines_, sines_;  ///< by position, then pair
};

/// Where a head lies in a tensor.
struct HeadPlace {
  std::int64_t sample = 0, channel = 0;  ///< local
  std::int64_t position = 0;             ///< local, the first
  std::int64_t positions = 0, channels = 0;
  std::int64_t behind = 0;  ///< channels of the packed head that stand before these
};

/// Floats of a packed head.
std::int64_t packed_size(std::int64_t positions, std::int64_t channels);
/// to = from times `scale`; channels behind it in its last block become zero.
void pack_head(float* to, const Tensor& from, const HeadPlace& place, float scale = 1);
/// The head's place in `to` = from times `scale`.
void unpack_head(const Tensor& to, const float* from, const HeadPlace& place, float scale = 1);
/// (channels, positions), the positions rounded up to whole blocks, from a packed head. Returns how
/// many floats that takes; `to` may be null.
std::int64_t transpose_head(float* to, const float* packed, std::int64_t positions,
                            std::int64_t channels);

}  // namespace strata::cpu
