#pragma once

// A shard's local convolution in oneDNN's terms, in one of the layouts that the library may be
// asked for. What differs from how the owner holds a tensor is bridged. Immutable values.

#include <array>
#include <cstdint>
#include <string_view>

#include "exec/cpu/onednn.h"
#include "exec/cpu/tensor.h"
#include "exec/runtime/convolution_shape.h"

namespace strata::cpu {

enum class ConvolutionLayout : std::uint8_t {
  as_given,  ///< activations as tensors lie
  blocked,   ///< an image in channel blocks, too
  plain      ///< n c d h w
};
/// The order in which they are tried: the first that the library has more than plain loops for.
inline constexpr std::array<ConvolutionLayout, 3> kConvolutionLayouts = {
    ConvolutionLayout::as_given, ConvolutionLayout::blocked, ConvolutionLayout::plain};

/// What a primitive works on. Blocked channels count whole blocks, whose places beyond the tensor's
/// channels hold zeros: so no channel count is odd to the library.
struct ConvolutionProblem {
  dnnl::memory::desc source, weights, bias, destination;
  dnnl::memory::dims strides, dilations, pad_begin, pad_end;
};
ConvolutionProblem problem(const ConvolutionShape& shape, const Box& input, const Box& output,
                           ConvolutionLayout layout);

/// How the owner holds things: the weights (spread, if the groups are), the part of the input that
/// is read, the output.
dnnl::memory::desc owner_weights(const ConvolutionShape& shape);
dnnl::memory::desc owner_source(const ConvolutionShape& shape, const Box& input);
dnnl::memory::desc owner_destination(const ConvolutionShape& shape, const Box& output);

/// In groups that fill channel blocks, which costs less than leaving the blocks, and thinned out.
ConvolutionShape blocked_shape(const ShardSpec& spec, const Convolution& op, const Box& input);

/// (count, outputs, inputs, taps) from (out_channels, layer_inputs, taps), zeros where the groups
/// of the layer do not meet; and what of a gradient is the layer's.
void spread_weights(const ConvolutionShape& shape, const float* weights, float* spread);
void gather_weights(const ConvolutionShape& shape, const float* spread, float* weights);

/// Whether the primitive runs fast, and its weights have a form that ours can be brought into.
bool suits(std::string_view implementation, const dnnl::memory::desc& weights,
           const ConvolutionShape& shape);

}  // namespace strata::cpu
