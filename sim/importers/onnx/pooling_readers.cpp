// Poolings, and the Pad that exporters put before them.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/windows.h"

namespace strata {
namespace {

bool is_ceil(const OnnxNode& node) {
  return node.attributes().integer("ceil_mode", 0) != 0;
}

Pooling pooling_of(OnnxNode& node, PoolMode mode) {
  const OnnxActivation& input = node.padded(0);
  Pooling op;
  op.rank = spatial_rank(input.axes);
  op.mode = mode;
  op.windows = read_windows(node.attributes(), node.attributes().integers("kernel_shape"),
                            padded_extents(input, node.extents(input)));
  op.ceil_mode = is_ceil(node);
  return op;
}

// An adaptive average of the same extents, say.
void add_pooling(OnnxNode& node, const Pooling& op) {
  const OnnxActivation input = node.padded(0);
  if (is_identity(op.windows) && input.zeros == PerDim<Margin>{}) return node.alias(input);
  node.layer(op, {input.layer});
}

// Then a zero changes no maximum that holds at least one element.
bool is_never_negative(const Op& op) {
  const auto* activation = std::get_if<Activation>(&op);
  return activation &&
         (activation->kind == ActivationKind::relu || activation->kind == ActivationKind::relu6 ||
          activation->kind == ActivationKind::sigmoid);
}

void add_global_pool(OnnxNode& node, PoolMode mode) {
  const OnnxActivation& input = node.usual(0);
  node.layer(AdaptivePooling{spatial_rank(input.axes), mode, 1, 1, 1}, {input.layer});
}

// Since opset 18 they are an input.
std::vector<std::int64_t> said_axes(const OnnxNode& node) {
  return node.has_input(1) ? node.integers(1) : node.attributes().integers("axes");
}

// Sorted, from 0 on.
std::vector<std::int64_t> axes_of(const OnnxNode& node, std::int64_t rank) {
  std::vector<std::int64_t> axes = said_axes(node);
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::vector<std::int64_t> spatial_axes(const Axes& axes) {
  std::vector<std::int64_t> spatial;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != Dim::n && axes[i] != Dim::c) spatial.push_back(static_cast<std::int64_t>(i));
  }
  return spatial;
}

// The axes that are left, with those that went as units where they are kept.
Axes without(const Axes& axes, const std::vector<std::int64_t>& gone, bool kept) {
  Axes left;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool goes = std::binary_search(gone.begin(), gone.end(), static_cast<std::int64_t>(i));
    if (!goes || kept) left.push_back(goes ? std::nullopt : axes[i]);
  }
  return left;
}

std::vector<std::int64_t> pads_of(const OnnxNode& node, std::size_t rank) {
  if (node.opset() < 11) return node.attributes().integers("pads");
  return node.has_input(3) ? spread_pads(node.integers(1), node.integers(3), rank)
                           : node.integers(1);
}

double pad_value(const OnnxNode& node) {
  return node.opset() < 11 ? node.attributes().number("value", 0) : node.scalar(2, 0);
}

void check_pads(const std::vector<std::int64_t>& pads, std::size_t rank) {
  constexpr std::int64_t kMost = 1 << 20;
  const bool fits = pads.size() == 2 * rank &&
                    std::all_of(pads.begin(), pads.end(),
                                [](std::int64_t pad) { return pad >= 0 && pad <= kMost; });
  if (!fits)
    throw InputError(fmt::format("its pads are {}; allowed: {} numbers from 0 to {}",
                                 print_dims(pads), 2 * rank, kMost));
}

void read_max_pool(OnnxNode& node) {
  const OnnxActivation& input = node.padded(0);
  Pooling op = pooling_of(node, PoolMode::max);
  const bool zeros = input.zeros != PerDim<Margin>{};
  if (zeros && !is_never_negative(node.network().op(input.layer))) {
    throw InputError(
        "the zeros of a Pad before it may be its maxima; allowed: after a Relu, a Clip "
        "from 0 to 6 or a Sigmoid");
  }
  take_zeros(op.windows, input.zeros);
  add_pooling(node, op);
}

void read_average_pool(OnnxNode& node) {
  const OnnxActivation& input = node.padded(0);
  Pooling op = pooling_of(node, PoolMode::average);
  op.count_include_pad = node.attributes().integer("count_include_pad", 0) != 0;
  const bool zeros = input.zeros != PerDim<Margin>{};
  if (zeros && has_padding(op.windows) && !op.count_include_pad)
    throw InputError("it counts the zeros of the Pad before it, but not those of its own pads");
  op.count_include_pad = op.count_include_pad || zeros || !has_padding(op.windows);
  take_zeros(op.windows, input.zeros);
  add_pooling(node, op);
}

void read_global_average_pool(OnnxNode& node) {
  add_global_pool(node, PoolMode::average);
}

void read_global_max_pool(OnnxNode& node) {
  add_global_pool(node, PoolMode::max);
}

// Over all spatial axes, wherever they are, it is global average pooling.
void read_reduce_mean(OnnxNode& node) {
  OnnxActivation input = node.activation(0);
  if (is_usual(input.axes, node.extents(input))) input.axes = usual_axes(input.axes.size());
  const auto rank = static_cast<std::int64_t>(input.axes.size());
  const std::vector<std::int64_t> spatial = spatial_axes(input.axes);
  if (spatial.empty() || std::ssize(spatial) != rank - 2 || axes_of(node, rank) != spatial) {
    throw InputError(fmt::format("its axes are {}; allowed: all spatial ones, {}",
                                 print_dims(said_axes(node)), print_dims(spatial)));
  }
  const bool kept = node.attributes().integer("keepdims", 1) != 0;
  node.layer(AdaptivePooling{spatial_rank(input.axes), PoolMode::average, 1, 1, 1}, {input.layer},
             without(input.axes, spatial, kept));
}

// The layers that read it have the zeros as padding of their own.
void read_pad(OnnxNode& node) {
  OnnxActivation value = node.padded(0);
  const std::string mode = node.attributes().text("mode", "constant");
  if (mode != "constant" || pad_value(node) != 0)
    throw InputError(fmt::format("it pads with {}; allowed: zeros",
                                 mode == "constant" ? "other numbers" : shown(mode)));
  const std::size_t rank = value.axes.size();
  const std::vector<std::int64_t> pads = pads_of(node, rank);
  check_pads(pads, rank);
  if (pads[0] + pads[1] + pads[rank] + pads[rank + 1] != 0)
    throw InputError("it pads samples or channels; allowed: spatial axes");
  for (std::size_t i = 2; i < rank; ++i) {
    Margin& margin = value.zeros[*usual_axes(rank)[i]];
    margin.begin += pads[i];
    margin.end += pads[i + rank];
  }
  value.axes = usual_axes(rank);
  node.alias(std::move(value));
}

}  // namespace

KnownOps pooling_readers() {
  static constexpr std::array kOps = {
      KnownOp{"AveragePool", read_average_pool},
      KnownOp{"GlobalAveragePool", read_global_average_pool},
      KnownOp{"GlobalMaxPool", read_global_max_pool},
      KnownOp{"MaxPool", read_max_pool},
      KnownOp{"Pad", read_pad},
      KnownOp{"ReduceMean", read_reduce_mean},
  };
  return kOps;
}

}  // namespace strata
