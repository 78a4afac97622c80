#pragma once

// How tensors lie in a CPU's memory: channels in blocks, (n, c/B, d, h, w, B) with element c at
// place c % B of block c / B, which is what oneDNN's convolutions like best. B is 8 where vectors
// hold 8 floats, 16 where they hold 16. What has fewer than B/2 channels (images) and spatial
// extent has B = 1: plain n c d h w. The last block's unused places are zero, always: whoever
// writes a tensor writes them.

#include <cstddef>
#include <cstdint>

#include "exec/runtime/kernel.h"
#include "sim/geometry/geometry.h"

namespace strata::cpu {

/// The block of tensors with many channels, on this machine: 8 or 16.
std::int64_t vector_block();

/// B for a tensor of these extents.
std::int64_t block_of(const Extents& extents);

/// A dense tensor: a Region's memory with its layout worked out.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const Region& region) : Tensor(static_cast<float*>(region.data), region.box) {}
  Tensor(float* data, const Box& box);

  float* data() const { return data_; }
  const Box& box() const { return box_; }
  const Extents& extents() const { return extents_; }
  explicit operator bool() const { return data_ != nullptr; }

  std::int64_t block() const { return block_; }
  std::int64_t blocks() const { return blocks_; }  ///< ceil(c / B)
  std::int64_t plane() const { return plane_; }    ///< d * h * w
  /// With the unused places of the last block.
  std::int64_t padded_size() const { return extents_[Dim::n] * blocks_ * plane_ * block_; }

  /// The first place of a channel block of a sample, n and cb from 0: plane() * block() floats.
  float* block_at(std::int64_t n, std::int64_t cb) const {
    return data_ + (n * blocks_ + cb) * plane_ * block_;
  }
  /// By local coordinates, from 0.
  float& at(std::int64_t n, std::int64_t c, std::int64_t d, std::int64_t h, std::int64_t w) const {
    const std::int64_t place = (d * extents_[Dim::h] + h) * extents_[Dim::w] + w;
    return block_at(n, c / block_)[place * block_ + c % block_];
  }

 private:
  float* data_ = nullptr;
  Box box_;
  Extents extents_;
  std::int64_t block_ = 1, blocks_ = 0, plane_ = 0;
};

/// Floats that a tensor of these extents takes, unused places included.
std::int64_t padded_size(const Extents& extents);

}  // namespace strata::cpu
