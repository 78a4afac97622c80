#pragma once

// A convolution in one direction as an operation of cuDNN's backend API.

#include <array>
#include <cstdint>
#include <vector>

#include "exec/cuda/products/cudnn_descriptor.h"
#include "exec/cuda/products/products.h"

namespace strata::cuda {

/// What plans call the input, the filter and the output.
inline constexpr std::array<std::int64_t, 3> kTensorNames = {1, 2, 3};

/// The operation, after the descriptors that it refers to. Tensors as products.h has them, sums in
/// fp32.
std::vector<Descriptor> convolution_operation(const Cudnn& cudnn, const ConvolutionShape& shape,
                                              Direction direction, Type type);

}  // namespace strata::cuda
