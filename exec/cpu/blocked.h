#pragma once

// Tensors of few channels, which lie plain, brought into channel blocks for kernels that know no
// other form, and back.

#include <cstdint>

#include "exec/cpu/block_products.h"
#include "exec/cpu/onednn.h"
#include "exec/cpu/tensor.h"

namespace strata::cpu {

/// A tensor as matrices of (positions, channels), one for each sample: the tensor's own memory
/// where its channels lie in blocks, else a scratch.
class BlockedTensor {
 public:
  enum class Begin : std::uint8_t { with_values, unwritten };
  BlockedTensor(const Tensor& tensor, Scratch where, Begin begin);

  /// Of a sample, from a block of channels on.
  BlockMatrix<float> at(std::int64_t n, std::int64_t block) const {
    return {data_ + n * sample() + block * plane_ * lanes_, lanes_, plane_ * lanes_};
  }
  ConstBlockMatrix read(std::int64_t n, std::int64_t block) const {
    const BlockMatrix<float> matrix = at(n, block);
    return {matrix.data, matrix.row, matrix.block};
  }
  std::int64_t sample() const { return blocks_ * plane_ * lanes_; }  ///< floats
  std::int64_t plane() const { return plane_; }
  std::int64_t blocks() const { return blocks_; }
  /// The tensor gets what was written.
  void give() const;

 private:
  Tensor tensor_;
  std::int64_t lanes_, blocks_, plane_;
  float* data_;
};

}  // namespace strata::cpu
