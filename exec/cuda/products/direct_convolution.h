#pragma once

// Convolutions and products of matrices as their definitions say them: any shape, sums in fp32,
// slow. For what no engine of a library takes, and as the referee of those that do.

#include <cstdint>

#include "exec/cuda/products/products.h"
#include "exec/cuda/tensor/noise.h"

namespace strata::cuda {

/// y[o] = sum over taps t and inputs i of the group of x[o stride - pad + t dilation, i] w[o, t,
/// i], or its gradient by x or by w.
void convolve_directly(const ConvolutionShape& shape, Direction direction,
                       const ConvolutionMemory& memory, Type type, Stream& stream);

/// Which elements of a tensor of `size` elements are sampled: one of each of `count` equal
/// stretches, as if drawn; all of them where it has no more.
struct SampledElements {
  static constexpr std::int64_t kMost = 4096;

  explicit SampledElements(std::int64_t elements)
      : size(elements), count(elements < kMost ? elements : kMost) {}
  STRATA_ANYWHERE std::int64_t element(std::int64_t k) const {
    const std::int64_t begin = k * size / count, end = (k + 1) * size / count;
    return begin +
           static_cast<std::int64_t>(scrambled(k) % static_cast<std::uint64_t>(end - begin));
  }

  std::int64_t size, count;
};

/// Elements of the tensor that is written, in this direction.
std::int64_t written_elements(const ConvolutionShape& shape, Direction direction);
/// What convolve_directly() would write at the sampled elements, before it is rounded to the type.
void convolve_sample_directly(const ConvolutionShape& shape, Direction direction,
                              const ConvolutionMemory& memory, Type type, float* sums,
                              Stream& stream);

struct ProductTypes {
  Type from, to;
  bool adds = false;  ///< to what lies there
};

/// product = a b, row by row.
void multiply_directly(const Matrix& a, const Matrix& b, void* product, const ProductTypes& types,
                       Stream& stream);

}  // namespace strata::cuda
