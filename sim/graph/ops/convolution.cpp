#include "sim/graph/ops/convolution.h"

#include <algorithm>

#include "sim/base/ceil_div.h"
#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

// Of a shard, per group.
struct GroupShape {
  std::int64_t groups, in, out;  ///< channels
  std::int64_t kernel, stride;   ///< products over the dims
};

constexpr std::int64_t positions(const Extents& e) {
  return e[Dim::n] * e[Dim::d] * e[Dim::h] * e[Dim::w];
}

// A cut in c leaves whole groups, or parts of them.
GroupShape group_shape(const Convolution& op, const ShardShape& shard) {
  const auto& [d, h, w] = op.windows;
  const std::int64_t channels = shard.output[Dim::c];
  const std::int64_t kernel = d.kernel * h.kernel * w.kernel;
  const std::int64_t groups = ceil_div(channels * op.groups, op.out_channels);
  return {groups, std::max<std::int64_t>(1, shard.parameters.weight / channels / kernel),
          ceil_div(channels, groups), kernel, d.stride * h.stride * w.stride};
}

Gemm implicit_product(const GroupShape& s, const ShardShape& shard, Phase phase) {
  const std::int64_t outputs = positions(shard.output);
  switch (phase) {
    case Phase::forward:
      return {s.groups, outputs, s.out, s.in * s.kernel};
    case Phase::backward_data:  // a stride's zeros are not multiplied: 1 of `stride` taps is there
      return {s.groups, positions(shard.inputs[0]), s.in, ceil_div(s.out * s.kernel, s.stride)};
    case Phase::backward_weights:
      return {s.groups, s.out, s.in * s.kernel, outputs};
    default:
      return {};
  }
}

// F(2x2, r x r) of Lavin and Gray (2015) computes 2x2 outputs by (r+1)^2 products instead of
// 4 r^2, each a product over the channels alone. Libraries have it for r = 3 and 5, in fp32.
std::int64_t winograd_kernel(const Convolution& op) {
  const Window &h = op.windows.h, &w = op.windows.w;
  const auto dense = [](const Window& x) { return x.stride == 1 && x.dilation == 1; };
  const bool square = h.kernel == w.kernel && (h.kernel == 3 || h.kernel == 5);
  return op.rank == 2 && square && dense(h) && dense(w) && op.groups == 1 ? h.kernel : 0;
}

Gemm winograd_product(std::int64_t r, const GroupShape& s, const ShardShape& shard, Phase phase) {
  const Extents& e = phase == Phase::backward_data ? shard.inputs[0] : shard.output;
  // Where 2x2 does not divide the extents, libraries have other tiles: no loss is counted.
  const std::int64_t tiles = ceil_div(positions(e), 4);
  const std::int64_t count = (r + 1) * (r + 1);
  switch (phase) {
    case Phase::forward:
      return {count, tiles, s.out, s.in};
    case Phase::backward_data:
      return {count, tiles, s.in, s.out};
    case Phase::backward_weights:
      return {count, s.out, s.in, tiles};
    default:
      return {};
  }
}

}  // namespace

std::string_view Convolution::name() const {
  return ranked_name({"conv1d", "conv2d", "conv3d"}, rank);
}

Extents Convolution::output(InputExtents inputs) const {
  Extents out = only(inputs);
  check_rank(rank);
  check_range("out_channels", out_channels, 1, kMaxExtent);
  check_range("groups", groups, 1, kMaxExtent);
  if (out[Dim::c] % groups != 0) {
    fail("{} groups do not divide the {} input channels", groups, out[Dim::c]);
  }
  if (out_channels % groups != 0) {
    fail("{} groups do not divide the {} output channels", groups, out_channels);
  }
  out[Dim::c] = out_channels;
  for (Dim dim : kSpatialDims) {
    check_window(windows[dim], dim, rank);
    out[dim] = convolved(windows[dim], out[dim], dim);
  }
  return out;
}

AccessMap Convolution::reads(const ReadContext& context) const {
  AccessMap map;
  map.dims[Dim::c] = access::Reduced{};
  if (groups > 1) {
    map.dims[Dim::c] = access::Blocks{out_channels / groups, context.extents[Dim::c] / groups};
  }
  for (Dim dim : kSpatialDims) map.dims[dim] = through(windows[dim]);
  return map;
}

std::int64_t Convolution::macs_per_output(InputExtents inputs) const {
  std::int64_t taps = inputs[0][Dim::c] / groups;
  for (Dim dim : kSpatialDims) taps = bounded_product(taps, windows[dim].kernel, kMaxMacs);
  return taps;
}

Parameters Convolution::parameters(InputExtents inputs) const {
  return {bounded_product(out_channels, macs_per_output(inputs), kMaxElements),
          bias ? out_channels : 0};
}

PhaseWork Convolution::work(const ShardShape& shard, Phase phase) const {
  const GroupShape s = group_shape(*this, shard);
  const std::int64_t r = winograd_kernel(*this);
  PhaseWork result = shard.product(implicit_product(s, shard, phase));
  result.grouped = result.any && groups > 1;
  if (r == 0 || !result.any) return result;
  const double gain = 2.0 * static_cast<double>(r) / static_cast<double>(r + 1);
  result.winograd = winograd_product(r, s, shard, phase);
  result.winograd_gain = gain * gain;
  return result;
}

std::string Convolution::cost_attributes() const {
  return attribute_text("kernel", windows, &Window::kernel) +
         attribute_text("stride", windows, &Window::stride) +
         attribute_text("dilation", windows, &Window::dilation) + attribute_text("groups", groups) +
         attribute_text("bias", bias);
}

std::vector<Convolution> Convolution::prototypes() {
  return {{.rank = 1}, {.rank = 2}, {.rank = 3}};
}

}  // namespace strata
