#pragma once

// What a shard of a convolution is by itself: the extents, paddings and groups of the local problem
// that computes it from its input box. Pure; thread-safe.

#include <cstdint>
#include <vector>

#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata {

/// One spatial dim of the local problem:
///     output = (input + pad_begin + pad_end - dilation (kernel - 1) - 1) / stride + 1, exactly.
/// The input is the part of the shard's box that begins at `skip` and has extent `input`, of which
/// every `step`-th element is taken.
struct ConvolutionAxis {
  Dim dim = Dim::w;
  std::int64_t input = 1, output = 1;
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_begin = 0;  ///< >= 0
  std::int64_t pad_end = 0;    ///< > -stride: what the last window's successor would not reach
  std::int64_t skip = 0, step = 1;

  bool operator==(const ConvolutionAxis&) const = default;
};

/// The groups of the local problem, `count` of them with `inputs` and `outputs` channels each, hold
/// the layer's own ones whole or in part: input channels of other groups have zero weights.
struct ConvolutionGroups {
  std::int64_t count = 1, inputs = 1, outputs = 1;
  std::int64_t layer_inputs = 1, layer_outputs = 1;  ///< channels of one of the layer's groups
  std::int64_t first = 0;  ///< where in its group of the layer the shard's first channel stands

  bool operator==(const ConvolutionGroups&) const = default;
  constexpr bool depthwise() const { return count > 1 && inputs == 1 && outputs == 1; }
  /// Whether the weights are the layer's as they are.
  constexpr bool exact() const { return inputs == layer_inputs; }
  /// Where among its group's inputs an output channel's own ones begin.
  constexpr std::int64_t own_inputs(std::int64_t out_channel) const {
    return (first + out_channel) / layer_outputs * layer_inputs - out_channel / outputs * inputs;
  }
};

struct ConvolutionShape {
  std::int64_t samples = 1, in_channels = 1, out_channels = 1;
  std::vector<ConvolutionAxis> axes;  ///< h w, or d h w where there is depth
  ConvolutionGroups groups;
  bool bias = true;

  bool operator==(const ConvolutionShape&) const = default;
  /// Elements of the kernel's window.
  std::int64_t taps() const;
  /// Elements of the shard's weight as the layer has it, without the bias.
  std::int64_t weights() const { return out_channels * groups.layer_inputs * taps(); }
  /// Whether the input is less than its box.
  bool cropped(const Box& input) const;
};

/// `input`: the box that the shard is given, not empty, with all channels of the groups it meets.
/// Groups are merged until their channels fill blocks of `channel_block`; a shard that ends inside
/// a group is one dense problem. No steps.
ConvolutionShape local_shape(const ShardSpec& spec, const Convolution& op, const Box& input,
                             std::int64_t channel_block = 1);

/// A window of one element that strides reads a thinner input: taken element by element it is one
/// that does not stride, which is fast whatever lies behind the last element.
void thin_out(ConvolutionShape& shape);

}  // namespace strata
