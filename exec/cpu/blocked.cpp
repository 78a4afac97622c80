#include "exec/cpu/blocked.h"

#include <algorithm>

namespace strata::cpu {

BlockedTensor::BlockedTensor(const Tensor& tensor, Scratch where, Begin begin)
    : tensor_(tensor),
      lanes_(vector_block()),
      blocks_((tensor.extents()[Dim::c] + lanes_ - 1) / lanes_),
      plane_(tensor.plane()),
      data_(tensor.data()) {
  if (tensor.block() == lanes_) return;
  const std::int64_t samples = tensor.extents()[Dim::n], channels = tensor.extents()[Dim::c];
  data_ = scratch(where, static_cast<std::size_t>(samples * sample()));
  if (begin == Begin::unwritten) return;
  std::fill_n(data_, samples * sample(), 0.0F);
  for (std::int64_t n = 0; n < samples; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const float* const from = tensor.block_at(n, c);
      float* const to = at(n, c / lanes_).data + c % lanes_;
      for (std::int64_t p = 0; p < plane_; ++p) to[p * lanes_] = from[p];
    }
  }
}

void BlockedTensor::give() const {
  if (data_ == tensor_.data()) return;
  for (std::int64_t n = 0; n < tensor_.extents()[Dim::n]; ++n) {
    for (std::int64_t c = 0; c < tensor_.extents()[Dim::c]; ++c) {
      const float* const from = at(n, c / lanes_).data + c % lanes_;
      float* const to = tensor_.block_at(n, c);
      for (std::int64_t p = 0; p < plane_; ++p) to[p] = from[p * lanes_];
    }
  }
}

}  // namespace strata::cpu
