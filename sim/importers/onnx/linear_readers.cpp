// Conv and MatMul, each with the Add of its bias, and Gemm.

#include <array>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/windows.h"

namespace strata {
namespace {

void check_dims(const OnnxTensor& tensor, const char* what, const TensorDims& wanted) {
  if (tensor.dims == wanted) return;
  throw InputError(fmt::format("its {} '{}' is {}; allowed: {}", what, shown(tensor.name),
                               print_dims(tensor.dims), print_dims(wanted)));
}

// A bias of (O), or (1, O), which Gemm spreads over the samples.
const OnnxTensor& bias_of(const OnnxTensor& bias, std::int64_t outputs) {
  if (bias.dims != TensorDims{1, outputs}) check_dims(bias, "bias", {outputs});
  return bias;
}

// (O, I) of a tensor that has (I, O).
OnnxTensor transpose_of(OnnxTensor weight) {
  if (weight.dims.size() != 2) {
    throw InputError(fmt::format("its weight '{}' is {}; allowed: two dims", shown(weight.name),
                                 print_dims(weight.dims)));
  }
  std::swap(weight.dims[0], weight.dims[1]);
  weight.transposed = !weight.transposed;
  return weight;
}

// The tensor that the only reader of a value, an Add, adds to it.
const OnnxTensor* added_tensor(OnnxNode& node, const std::string& name,
                               const onnx::NodeProto& reader) {
  if (reader.op_type() != "Add") return nullptr;
  return node.network().tensor(reader.input(reader.input(0) == name ? 1 : 0));
}

// As a Transpose has them; none where its perm makes no sense.
std::optional<Axes> in_order_of(const onnx::NodeProto& transpose, const Axes& axes) {
  const std::vector<std::int64_t> order = NodeAttributes(transpose).integers("perm");
  Axes moved;
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= std::ssize(axes)) return std::nullopt;
    moved.push_back(axes[static_cast<std::size_t>(axis)]);
  }
  return moved.size() == axes.size() ? std::optional(moved) : std::nullopt;
}

// Whether a tensor that is added to a value with these axes has a number for each channel.
bool is_along_channels(const OnnxTensor& tensor, const Axes& axes, std::int64_t channels) {
  if (tensor.dims.size() > axes.size() || element_count(tensor.dims) != channels) return false;
  const std::size_t missing = axes.size() - tensor.dims.size();
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] != 1 && axes[missing + i] != Dim::c) return false;
  }
  return true;
}

// What an Add behind the convolution adds to each channel, as exports from TensorFlow have it, and
// maybe behind the Transpose that comes in between.
std::optional<OnnxTensor> take_added_bias(OnnxNode& node, Axes axes, std::int64_t channels) {
  std::string name = node.output();
  const onnx::NodeProto* reader = node.network().only_reader(name);
  if (reader && reader->op_type() == "Transpose") {
    const auto moved = in_order_of(*reader, axes);
    if (!moved) return std::nullopt;
    axes = *moved;
    name = reader->output(0);
    reader = node.network().only_reader(name);
  }
  const OnnxTensor* tensor = reader ? added_tensor(node, name, *reader) : nullptr;
  if (!tensor || !is_along_channels(*tensor, axes, channels)) return std::nullopt;
  node.network().take_bias(*reader, node.proto());
  OnnxTensor bias = *tensor;
  bias.dims = {channels}, bias.transposed = false;
  return bias;
}

void add_fully_connected(OnnxNode& node, OnnxTensor weight, const OnnxTensor* bias,
                         const onnx::NodeProto& last) {
  const OnnxActivation& input = node.usual(0);
  if (input.axes.size() != 2) {
    throw InputError(fmt::format("its input has {} dims; allowed: (n, c), or (n, w, c) of tokens",
                                 input.axes.size()));
  }
  if (weight.dims.empty()) throw InputError("its weight is a number; allowed: two dims");
  const std::int64_t outputs = weight.dims[0];
  check_dims(weight, "weight", {outputs, node.extents(input)[Dim::c]});
  OnnxParameters parameters{std::move(weight), {}};
  if (bias) parameters.bias = bias_of(*bias, outputs);
  const LayerId id =
      node.layer(FullyConnected{outputs, bias != nullptr}, {input.layer}, usual_axes(2), last);
  node.network().set_parameters(id, std::move(parameters));
}

// From the attribute or, without it, from the weight.
std::vector<std::int64_t> kernel_of(const OnnxNode& node, const OnnxTensor& weight,
                                    std::size_t rank) {
  if (weight.dims.size() != rank + 2) {
    throw InputError(fmt::format("its weight '{}' is {}, its input has {} dims", shown(weight.name),
                                 print_dims(weight.dims), rank + 2));
  }
  if (node.attributes().has("kernel_shape")) return node.attributes().integers("kernel_shape");
  return {weight.dims.begin() + 2, weight.dims.end()};
}

TensorDims convolution_weight(const Convolution& op, std::int64_t channels,
                              const std::vector<std::int64_t>& kernel) {
  if (op.groups < 1) throw InputError(fmt::format("group is {}; allowed: at least 1", op.groups));
  TensorDims dims = {op.out_channels, channels / op.groups};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  return dims;
}

void read_convolution(OnnxNode& node) {
  const OnnxActivation& input = node.padded(0);
  const Extents& extents = node.extents(input);
  const OnnxTensor& weight = node.tensor(1);
  Convolution op;
  op.rank = spatial_rank(input.axes);
  const auto kernel = kernel_of(node, weight, static_cast<std::size_t>(op.rank));
  op.out_channels = weight.dims[0];
  op.groups = node.attributes().integer("group", 1);
  op.windows = read_windows(node.attributes(), kernel, padded_extents(input, extents));
  take_zeros(op.windows, input.zeros);
  check_dims(weight, "weight", convolution_weight(op, extents[Dim::c], kernel));
  OnnxParameters parameters{weight, {}};
  // A bias of zeros that nodes compute is how PyTorch says that there is none.
  const bool has_bias = node.has_input(2) &&
                        (node.is_tensor(2) || node.network().number(node.proto().input(2)) != 0.0);
  parameters.bias = has_bias
                        ? bias_of(node.tensor(2), op.out_channels)
                        : take_added_bias(node, usual_axes(input.axes.size()), op.out_channels);
  op.bias = parameters.bias.has_value();
  const LayerId id = node.layer(op, {input.layer});
  node.network().set_parameters(id, std::move(parameters));
}

void read_gemm(OnnxNode& node) {
  const NodeAttributes& attributes = node.attributes();
  if (attributes.number("alpha", 1) != 1) throw InputError("alpha is not 1; allowed: 1");
  if (attributes.number("beta", 1) != 1) throw InputError("beta is not 1; allowed: 1");
  if (attributes.integer("transA", 0) != 0) throw InputError("transA is 1; allowed: 0");
  const bool as_it_is = attributes.integer("transB", 0) != 0;
  OnnxTensor weight = as_it_is ? node.tensor(1) : transpose_of(node.tensor(1));
  const OnnxTensor* bias = node.has_input(2) ? &node.tensor(2) : nullptr;
  add_fully_connected(node, std::move(weight), bias, node.proto());
}

void read_matmul(OnnxNode& node) {
  const OnnxTensor weight = transpose_of(node.tensor(1));
  const onnx::NodeProto* reader = node.network().only_reader(node.output());
  const OnnxTensor* bias = reader ? added_tensor(node, node.output(), *reader) : nullptr;
  if (bias) node.network().absorb(*reader, node.proto());
  add_fully_connected(node, weight, bias, bias ? *reader : node.proto());
}

}  // namespace

KnownOps linear_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Conv", read_convolution},
      KnownOp{"Gemm", read_gemm},
      KnownOp{"MatMul", read_matmul},
  };
  return kOps;
}

}  // namespace strata
