#include "exec/cpu/tensor.h"

#include "sim/geometry/channel_block.h"

namespace strata::cpu {
namespace {

std::int64_t blocks_of(const Extents& extents, std::int64_t block) {
  return (extents[Dim::c] + block - 1) / block;
}

std::int64_t plane_of(const Extents& extents) {
  return extents[Dim::d] * extents[Dim::h] * extents[Dim::w];
}

}  // namespace

std::int64_t vector_block() {
#ifdef __x86_64__
  static const std::int64_t block = __builtin_cpu_supports("avx512f") != 0 ? 16 : 8;
  return block;
#else
  return 8;
#endif
}

std::int64_t block_of(const Extents& extents) {
  return channel_block_of(extents, vector_block());
}

std::int64_t padded_size(const Extents& extents) {
  return padded_volume(extents, vector_block());
}

Tensor::Tensor(float* data, const Box& box)
    : data_(data),
      box_(box),
      extents_(strata::extents(box)),
      block_(block_of(extents_)),
      blocks_(blocks_of(extents_, block_)),
      plane_(plane_of(extents_)) {}

}  // namespace strata::cpu
