// What windows slide over, what a Pad puts around it, and what Resize makes of it.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/graph/ops/window.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/shape_rules.h"
#include "sim/importers/onnx/windows.h"

namespace strata {
namespace {

using Values = std::vector<std::int64_t>;

constexpr float kMostScale = 1 << 20;

// Samples and channels come first; of more than three spatial dims nothing is known here.
bool has_windows(const TensorDims& input) {
  return input.size() >= 3 && input.size() <= kDims.size();
}

Values spatial_of(const TensorDims& input) {
  return {input.begin() + 2, input.end()};
}

template <class Slide>
TensorDims slid(const TensorDims& input, std::int64_t channels, const Windows& windows,
                const Slide& slide) {
  TensorDims dims = {input[0], channels};
  const std::size_t rank = input.size() - 2;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim dim = spatial_dim(i, rank);
    dims.push_back(slide(windows[dim], input[i + 2], dim));
  }
  return dims;
}

// Since opset 11 they are an input, and since 18 they may be of some axes alone.
MaybeDims pads_of(const KnownNode& node, std::size_t rank) {
  auto said = node.opset() < 11 ? node.attributes().integers("pads") : node.integers(1);
  if (!said || !node.has_input(3)) return said;
  const auto axes = node.integers(3);
  return axes ? std::optional(spread_pads(*said, *axes, rank)) : std::nullopt;
}

// In float32, as the runtimes have it.
std::int64_t scaled(std::int64_t extent, float scale) {
  const float result = std::floor(static_cast<float>(extent) * scale);
  if (scale >= 0 && scale <= kMostScale && result < static_cast<float>(kMaxElements))
    return static_cast<std::int64_t>(result);
  throw InputError(fmt::format("its scale is {}; allowed: 0 to {}", scale, kMostScale));
}

// Where the scales of an op are, or no input has them: Upsample before opset 9.
std::optional<std::vector<float>> scales_of(const KnownNode& node) {
  const bool resize = node.proto().op_type() == "Resize";
  if (!resize && node.opset() < 9) return node.attributes().numbers("scales");
  return node.floats(resize && node.opset() >= 11 ? 2 : 1);
}

// Those that are resized; before opset 18 all of them.
std::vector<std::size_t> resized_axes(const KnownNode& node, std::size_t rank) {
  Values axes = node.attributes().integers("axes");
  if (!node.attributes().has("axes")) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::size_t> checked;
  for (const std::int64_t axis : axes) checked.push_back(checked_axis(axis, rank));
  return checked;
}

void check_count(std::size_t count, std::size_t wanted, const char* what) {
  if (count == wanted) return;
  throw InputError(fmt::format("it has {} {}; allowed: {}, one for each axis that it resizes",
                               count, what, wanted));
}

}  // namespace

MaybeDims convolution_dims(const KnownNode& node) {
  const TensorDims& input = node.dims(0);
  const TensorDims& weight = node.dims(1);
  if (!has_windows(input) || weight.size() != input.size()) return std::nullopt;
  Values kernel = node.attributes().integers("kernel_shape");
  if (kernel.empty()) kernel = spatial_of(weight);
  const Windows windows = read_windows(node.attributes(), kernel, spatial_of(input));
  return slid(input, weight[0], windows, convolved);
}

MaybeDims pooling_dims(const KnownNode& node) {
  const TensorDims& input = node.dims(0);
  if (!has_windows(input)) return std::nullopt;
  const Values kernel = node.attributes().integers("kernel_shape");
  const Windows windows = read_windows(node.attributes(), kernel, spatial_of(input));
  const bool ceil = node.attributes().integer("ceil_mode", 0) != 0;
  return slid(input, input[1], windows, [&](const Window& window, std::int64_t extent, Dim dim) {
    return pooled(window, ceil, extent, dim);
  });
}

MaybeDims global_pooling_dims(const KnownNode& node) {
  TensorDims dims = node.dims(0);
  if (dims.size() < 3) return std::nullopt;
  std::fill(dims.begin() + 2, dims.end(), 1);
  return dims;
}

MaybeDims pad_dims(const KnownNode& node) {
  TensorDims dims = node.dims(0);
  const auto pads = pads_of(node, dims.size());
  if (!pads) return std::nullopt;
  for (const std::int64_t pad : *pads) {
    if (pad >= -kMaxExtent && pad <= kMaxExtent && pads->size() == 2 * dims.size()) continue;
    throw InputError(fmt::format("its pads are {}; allowed: {} numbers from -{} to {}",
                                 print_dims(*pads), 2 * dims.size(), kMaxExtent, kMaxExtent));
  }
  for (std::size_t i = 0; i < pads->size() / 2; ++i)
    dims[i] += (*pads)[i] + (*pads)[i + dims.size()];
  return dims;
}

// By sizes or by scales, whichever the node has.
MaybeDims resize_dims(const KnownNode& node) {
  TensorDims dims = node.dims(0);
  const std::vector<std::size_t> axes = resized_axes(node, dims.size());
  if (node.opset() >= 11 && node.has_input(3)) {
    const auto sizes = node.integers(3);
    const bool stretches =
        node.attributes().text("keep_aspect_ratio_policy", "stretch") == "stretch";
    if (!sizes || !stretches) return std::nullopt;
    check_count(sizes->size(), axes.size(), "sizes");
    for (std::size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = (*sizes)[i];
    return dims;
  }
  const auto scales = scales_of(node);
  if (!scales) return std::nullopt;
  check_count(scales->size(), axes.size(), "scales");
  for (std::size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = scaled(dims[axes[i]], (*scales)[i]);
  return dims;
}

}  // namespace strata
