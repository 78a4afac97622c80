#include "exec/runtime/convolution_shape.h"

#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"

namespace strata {
namespace {

/// Output o taps o stride - pad + j dilation, j in [0, kernel), in global coordinates.
ConvolutionAxis local_axis(Dim dim, const Window& window, Interval in, Interval out) {
  ConvolutionAxis axis{dim, in.size(), out.size(), window.kernel, window.stride, window.dilation};
  const std::int64_t first = out.begin * window.stride - window.pad_begin;
  const std::int64_t end =
      (out.end - 1) * window.stride - window.pad_begin + (window.kernel - 1) * window.dilation + 1;
  axis.skip = std::max<std::int64_t>(0, first - in.begin);
  axis.pad_begin = std::max<std::int64_t>(0, in.begin - first);
  // A stride leaves fewer elements than itself behind the last window; more of them are cut off.
  axis.pad_end = end - in.end > -window.stride ? end - in.end : 0;
  axis.input = end - axis.pad_end - in.begin - axis.skip;
  return axis;
}

ConvolutionGroups local_groups(std::int64_t layer_inputs, std::int64_t layer_outputs,
                               Interval channels, std::int64_t channel_block) {
  ConvolutionGroups it{1, 1, channels.size(), layer_inputs, layer_outputs, 0};
  it.first = channels.begin % layer_outputs;
  const std::int64_t met = (channels.end - 1) / layer_outputs - channels.begin / layer_outputs + 1;
  it.inputs = met * layer_inputs;
  if (met == 1 || it.first != 0 || channels.end % layer_outputs != 0) return it;
  const bool depthwise = layer_inputs == 1 && layer_outputs == 1;
  const std::int64_t block = depthwise ? 1 : channel_block;
  for (std::int64_t merged = 1; merged < met; ++merged) {
    const std::int64_t inputs = merged * layer_inputs, outputs = merged * layer_outputs;
    if (met % merged != 0 || inputs % block != 0 || outputs % block != 0) continue;
    it.count = met / merged, it.inputs = inputs, it.outputs = outputs;
    break;
  }
  return it;
}

}  // namespace

std::int64_t ConvolutionShape::taps() const {
  std::int64_t product = 1;
  for (const ConvolutionAxis& axis : axes) product *= axis.kernel;
  return product;
}

bool ConvolutionShape::cropped(const Box& input) const {
  return std::any_of(axes.begin(), axes.end(), [&](const ConvolutionAxis& axis) {
    return axis.input != input[axis.dim].size();
  });
}

ConvolutionShape local_shape(const ShardSpec& spec, const Convolution& op, const Box& input,
                             std::int64_t channel_block) {
  ConvolutionShape shape;
  shape.samples = spec.output[Dim::n].size();
  shape.in_channels = input[Dim::c].size();
  shape.out_channels = spec.output[Dim::c].size();
  shape.bias = shard_parameters(*spec, spec.output).bias > 0;
  for (Dim dim : kSpatialDims) {
    const ConvolutionAxis axis = local_axis(dim, op.windows[dim], input[dim], spec.output[dim]);
    const bool flat = axis.input == 1 && axis.output == 1 && axis.kernel == 1;
    if (dim != Dim::d || !flat || input[dim].size() > 1) shape.axes.push_back(axis);
  }
  const Layer& layer = *spec;
  const std::int64_t in_channels = (*spec.graph)[layer.inputs[0]].output[Dim::c];
  const std::int64_t terms =
      op.groups == 1 ? terms_in(layer, spec.output) : in_channels / op.groups;
  shape.groups =
      local_groups(terms, layer.output[Dim::c] / op.groups, spec.output[Dim::c], channel_block);
  return shape;
}

void thin_out(ConvolutionShape& shape) {
  const bool thin = std::all_of(shape.axes.begin(), shape.axes.end(), [](const auto& axis) {
    return axis.kernel == 1 && axis.pad_begin == 0 && axis.pad_end <= 0;
  });
  if (!thin) return;
  for (ConvolutionAxis& axis : shape.axes) {
    axis.step = std::exchange(axis.stride, 1);
    axis.input = axis.output;
    axis.pad_end = 0;
  }
}

}  // namespace strata
