#pragma once

// Convolutions and products of matrices as their definitions say them: any shape, sums in fp32,
// slow. For what no engine of a library takes, and as the referee of those that do.

#include "exec/cuda/products/products.h"

namespace strata::cuda {

/// y[o] = sum over taps t and inputs i of the group of x[o stride - pad + t dilation, i] w[o, t,
/// i], or its gradient by x or by w.
void convolve_directly(const ConvolutionShape& shape, Direction direction,
                       const ConvolutionMemory& memory, Type type, Stream& stream);

struct ProductTypes {
  Type from, to;
  bool adds = false;  ///< to what lies there
};

/// product = a b, row by row.
void multiply_directly(const Matrix& a, const Matrix& b, void* product, const ProductTypes& types,
                       Stream& stream);

}  // namespace strata::cuda
