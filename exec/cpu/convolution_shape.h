#pragma once

// A shard's local convolution as oneDNN likes it, and its weights on the way there.

#include "exec/runtime/convolution_shape.h"

namespace strata::cpu {

/// In groups that fill channel blocks, which costs less than leaving the blocks, and thinned out.
ConvolutionShape blocked_shape(const ShardSpec& spec, const Convolution& op, const Box& input);

/// (count, outputs, inputs, taps) from (out_channels, layer_inputs, taps), zeros where the groups
/// of the layer do not meet; and what of a gradient is the layer's.
void spread_weights(const ConvolutionShape& shape, const float* weights, float* spread);
void gather_weights(const ConvolutionShape& shape, const float* spread, float* weights);

}  // namespace strata::cpu
