#pragma once

// Weights between a layer's form, fp32 (outputs, inputs, taps), and the filters of products, of the
// tensors' type (outputs, taps, inputs of the local group).

#include "exec/cuda/tensor/move.h"
#include "exec/runtime/convolution_shape.h"

namespace strata::cuda {

/// Whether the weights are a filter as they lie.
bool is_filter(const ConvolutionShape& shape, Type type);

/// Elements of the filter: more than the weights where local groups hold several of the layer's.
std::int64_t filter_size(const ConvolutionShape& shape);

/// Zeros where the layer's groups do not meet.
void to_filter(const ConvolutionShape& shape, const float* weights, void* filter, Type type,
               Stream& stream);
/// What of the filter is the layer's, or that added to what lies there.
void from_filter(const ConvolutionShape& shape, const void* filter, float* weights, bool adds,
                 Type type, Stream& stream);

/// The same values in the type. Both begin where 32 bytes may be moved at once.
void convert(const float* values, void* to, std::int64_t count, Type type, Stream& stream);

}  // namespace strata::cuda
