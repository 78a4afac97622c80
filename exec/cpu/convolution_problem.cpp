#include "exec/cpu/convolution_problem.h"

#include <algorithm>

namespace strata::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;

Tag plain_tag(std::size_t dims) {
  return dims == 4 ? Tag::abcd : dims == 5 ? Tag::abcde : Tag::abcdef;
}

Tag activation_tag(std::size_t dims, std::int64_t block) {
  if (block == 1) return plain_tag(dims);
  if (block == 8) return dims == 4 ? Tag::aBcd8b : Tag::aBcde8b;
  return dims == 4 ? Tag::aBcd16b : Tag::aBcde16b;
}

memory::desc activation(const memory::dims& dims, std::int64_t block) {
  return {dims, kFloat, activation_tag(dims.size(), block)};
}

std::int64_t rounded_up(std::int64_t count, std::int64_t block) {
  return (count + block - 1) / block * block;
}

std::int64_t block_in(ConvolutionLayout layout, const Box& box) {
  if (layout == ConvolutionLayout::plain) return 1;
  return layout == ConvolutionLayout::blocked ? vector_block() : block_of(extents(box));
}

memory::dims weight_dims(const ConvolutionShape& shape, std::int64_t in_block,
                         std::int64_t out_block) {
  const ConvolutionGroups& groups = shape.groups;
  memory::dims dims;
  if (groups.count == 1) {
    dims = {rounded_up(groups.outputs, out_block), rounded_up(groups.inputs, in_block)};
  } else if (groups.depthwise()) {
    dims = {rounded_up(groups.count, out_block), 1, 1};
  } else {
    dims = {groups.count, groups.outputs, groups.inputs};
  }
  for (const ConvolutionAxis& axis : shape.axes) dims.push_back(axis.kernel);
  return dims;
}

/// f(place in the layer's weights, place in the spread ones, count) for each output channel's run.
template <class F>
void for_each_run(const ConvolutionShape& shape, F f) {
  const ConvolutionGroups& groups = shape.groups;
  const std::int64_t taps = shape.taps(), run = groups.layer_inputs * taps;
  for (std::int64_t o = 0; o < shape.out_channels; ++o) {
    f(o * run, (o * groups.inputs + groups.own_inputs(o)) * taps, run);
  }
}

}  // namespace

ConvolutionShape blocked_shape(const ShardSpec& spec, const Convolution& op, const Box& input) {
  ConvolutionShape shape = local_shape(spec, op, input, vector_block());
  thin_out(shape);
  return shape;
}

void spread_weights(const ConvolutionShape& shape, const float* weights, float* spread) {
  const ConvolutionGroups& groups = shape.groups;
  std::fill_n(spread, shape.out_channels * groups.inputs * shape.taps(), 0.0F);
  for_each_run(shape, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
    std::copy_n(weights + from, count, spread + to);
  });
}

void gather_weights(const ConvolutionShape& shape, const float* spread, float* weights) {
  for_each_run(shape, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    std::copy_n(spread + from, count, weights + to);
  });
}

ConvolutionProblem problem(const ConvolutionShape& shape, const Box& input, const Box& output,
                           ConvolutionLayout layout) {
  std::int64_t in_block = block_in(layout, input), out_block = block_in(layout, output);
  if (shape.groups.depthwise()) in_block = out_block = std::max(in_block, out_block);
  memory::dims source{shape.samples, rounded_up(shape.in_channels, in_block)};
  memory::dims destination{shape.samples, rounded_up(shape.out_channels, out_block)};
  ConvolutionProblem it;
  for (const ConvolutionAxis& axis : shape.axes) {
    source.push_back(axis.input);
    destination.push_back(axis.output);
    it.strides.push_back(axis.stride);
    it.dilations.push_back(axis.dilation - 1);
    it.pad_begin.push_back(axis.pad_begin);
    it.pad_end.push_back(axis.pad_end);
  }
  it.source = activation(source, in_block);
  it.destination = activation(destination, out_block);
  it.weights = {weight_dims(shape, in_block, out_block), kFloat, Tag::any};
  if (shape.bias) it.bias = {{destination[1]}, kFloat, Tag::a};
  return it;
}

memory::desc owner_weights(const ConvolutionShape& shape) {
  const memory::dims dims = weight_dims(shape, 1, 1);
  return {dims, kFloat, plain_tag(dims.size())};
}

memory::desc owner_source(const ConvolutionShape& shape, const Box& input) {
  memory::dims all{shape.samples, shape.in_channels}, part = all, begin{0, 0};
  for (const ConvolutionAxis& axis : shape.axes) {
    all.push_back(input[axis.dim].size());
    part.push_back(axis.input);
    begin.push_back(axis.skip);
  }
  memory::desc it = activation(all, block_of(extents(input)));
  if (part != all) it = it.submemory_desc(part, begin);
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    it.data.format_desc.blocking.strides[2 + i] *= shape.axes[i].step;
  }
  return it;
}

memory::desc owner_destination(const ConvolutionShape& shape, const Box& output) {
  memory::dims dims{shape.samples, shape.out_channels};
  for (const ConvolutionAxis& axis : shape.axes) dims.push_back(axis.output);
  return activation(dims, block_of(extents(output)));
}

bool suits(std::string_view implementation, const memory::desc& weights,
           const ConvolutionShape& shape) {
  return !implementation.starts_with("ref") && is_trimmable(weights, owner_weights(shape).dims());
}

}  // namespace strata::cpu
