#include "exec/cpu/convolution_shape.h"

#include <algorithm>

#include "exec/cpu/tensor.h"

namespace strata::cpu {
namespace {

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

}  // namespace strata::cpu
