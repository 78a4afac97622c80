// Nodes that compute nothing: other names, other orders of axes, and shapes that are known.

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

OnnxTensor transposed(OnnxTensor tensor) {
  std::swap(tensor.dims[0], tensor.dims[1]);
  tensor.transposed = !tensor.transposed;
  return tensor;
}

// ONNX's default turns the order of all axes round.
std::vector<std::int64_t> order_of(const OnnxNode& node, std::size_t rank) {
  std::vector<std::int64_t> order = node.attributes().integers("perm");
  if (node.attributes().has("perm")) return order;
  order.resize(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

// The axes that `dims` has where units alone come, go and move; none where more does. The batch
// stays, whatever its extent in the file.
std::optional<Axes> relabelled(const OnnxActivation& input, const Extents& extents,
                               const TensorDims& dims, std::int64_t batch) {
  if (input.axes.empty() || input.axes[0] != Dim::n || dims.empty() || dims[0] != batch)
    return std::nullopt;
  std::vector<Axis> left;
  for (std::size_t i = 1; i < input.axes.size(); ++i) {
    if (input.axes[i] && extents[*input.axes[i]] != 1) left.push_back(input.axes[i]);
  }
  Axes axes = {Dim::n};
  auto next = left.begin();
  for (std::size_t i = 1; i < dims.size(); ++i) {
    if (dims[i] == 1) {
      axes.push_back(std::nullopt);
    } else if (next != left.end() && extents[**next] == dims[i]) {
      axes.push_back(*next++);
    } else {
      return std::nullopt;
    }
  }
  return next == left.end() ? std::optional(axes) : std::nullopt;
}

// (n, c, d, h, w) to (n, c d h w).
bool flattens(const OnnxActivation& input, const Extents& extents, const TensorDims& dims,
              std::int64_t batch) {
  const std::int64_t rest = volume(extents) / extents[Dim::n];
  return dims == TensorDims{batch, rest} && is_usual(input.axes, extents);
}

// What a Cast or a CastLike writes.
bool writes_floats(OnnxNode& node) {
  onnx::TensorProto target;
  const auto& elements = node.network().shapes().elements;
  if (const auto at = elements.find(node.output()); at != elements.end())
    target.set_data_type(at->second);
  return holds_floats(target);
}

// Flatten, Reshape, Squeeze and Unsqueeze, by the shape that comes out.
void read_relabel(OnnxNode& node) {
  const OnnxActivation input = node.activation(0);
  const Extents extents = node.extents(input);
  const TensorDims& dims = node.output_dims();
  const std::int64_t batch = node.network().shapes().batch;
  auto axes = relabelled(input, extents, dims, batch);
  const bool moves = !axes || !is_usual(*axes, extents);  // (n, 1, w) to (n, w) moves w to c
  if (moves && flattens(input, extents, dims, batch)) {
    node.layer(Flatten{}, {input.layer});
    return;
  }
  if (axes) return node.alias(OnnxActivation{input.layer, std::move(*axes), {}});
  throw InputError(
      fmt::format("its output is {} for a batch of {}; allowed: (n, all others), and "
                  "axes of extent 1 that come and go",
                  print_dims(dims), batch));
}

}  // namespace

// Identity of anything; Cast between floats, which are one type here. Constants that become
// integers are no numbers of the network's.
void read_alias(OnnxNode& node) {
  const bool keeps = node.proto().op_type() == "Identity" || writes_floats(node);
  if (node.is_tensor(0)) return keeps ? node.alias(node.value(0)) : node.write_shape();
  if (!keeps) throw InputError("it casts to no float; allowed: floats");
  if (!std::holds_alternative<OnnxActivation>(node.value(0))) return node.alias(node.value(0));
  node.alias(node.activation(0));
}

void read_transpose(OnnxNode& node) {
  if (node.is_tensor(0)) {
    const OnnxTensor& tensor = node.tensor(0);
    if (tensor.dims.size() != 2) return node.write_shape();
    const bool turns = order_of(node, 2) == std::vector<std::int64_t>{1, 0};
    return node.alias(turns ? transposed(tensor) : tensor);
  }
  OnnxActivation value = node.activation(0);
  const std::vector<std::int64_t> order = order_of(node, value.axes.size());
  if (!has_each_axis_once(order, value.axes.size()))
    throw InputError(fmt::format("perm is {}; allowed: each of its axes once", print_dims(order)));
  const Axes before = value.axes;
  for (std::size_t i = 0; i < order.size(); ++i)
    value.axes[i] = before[static_cast<std::size_t>(order[i])];
  node.alias(std::move(value));
}

// What nodes compute from shapes, inference has computed where it matters.
void read_shape_part(OnnxNode& node) {
  const std::string& op = node.proto().op_type();
  if (op == "Shape" || op == "Size") return node.write_shape();
  if (op == "Constant")
    throw InputError("it holds no numbers; allowed: a tensor, floats, integers");
  throw InputError("allowed: of shapes and constants");
}

KnownOps layout_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Cast", read_alias},          KnownOp{"CastLike", read_alias},
      KnownOp{"Constant", read_shape_part}, KnownOp{"ConstantOfShape", read_shape_part},
      KnownOp{"Expand", read_shape_part},   KnownOp{"Flatten", read_relabel},
      KnownOp{"Gather", read_shape_part},   KnownOp{"Identity", read_alias},
      KnownOp{"Reshape", read_relabel},     KnownOp{"Shape", read_shape_part},
      KnownOp{"Size", read_shape_part},     KnownOp{"Slice", read_shape_part},
      KnownOp{"Squeeze", read_relabel},     KnownOp{"Sub", read_shape_part},
      KnownOp{"Transpose", read_transpose}, KnownOp{"Unsqueeze", read_relabel},
  };
  return kOps;
}

}  // namespace strata
