#include "sim/importers/onnx/node.h"

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/views.h"

namespace strata {
namespace {

std::int64_t extent_of(const Axis& axis, const OnnxActivation& value, const Extents& extents) {
  if (!axis) return 1;
  return extents[*axis] + value.zeros[*axis].begin + value.zeros[*axis].end;
}

// All but the batch, whose extent is another here.
bool agrees(const OnnxActivation& value, const Extents& extents, const TensorDims& dims) {
  if (dims.size() != value.axes.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (value.axes[i] == Dim::n) continue;
    if (extent_of(value.axes[i], value, extents) != dims[i]) return false;
  }
  return true;
}

// "(n, 64, 55, 55)"
std::string print_shape(const OnnxActivation& value, const Extents& extents) {
  std::string text;
  for (const Axis& axis : value.axes) {
    text += text.empty() ? "" : ", ";
    text += axis == Dim::n ? "n" : fmt::format("{}", extent_of(axis, value, extents));
  }
  return fmt::format("({})", text);
}

}  // namespace

const OnnxTensor& OnnxNode::tensor(int i) const {
  if (!has_input(i)) throw InputError(fmt::format("it has no input {}", i));
  if (const auto* tensor = std::get_if<OnnxTensor>(&value(i))) return *tensor;
  throw InputError(fmt::format("its input '{}' is computed; allowed: an initializer or a constant",
                               shown(node_.input(i))));
}

const OnnxActivation& OnnxNode::any_activation(int i) const {
  if (!has_input(i)) throw InputError(fmt::format("it has no input {}", i));
  const std::string& name = node_.input(i);
  if (is_data(i)) {
    if (!std::holds_alternative<OnnxActivation>(value(i)))
      network_.define(name, made(network_, value(i), name));
    return std::get<OnnxActivation>(value(i));
  }
  throw InputError(fmt::format("its input '{}' is a constant; allowed: what depends on the data",
                               shown(node_.input(i))));
}

const OnnxActivation& OnnxNode::activation(int i) const {
  const OnnxActivation& value = any_activation(i);
  if (value.zeros == PerDim<Margin>{}) return value;
  throw InputError("a Pad stands before it; allowed: before a convolution or a pooling");
}

const OnnxActivation& OnnxNode::padded(int i) const {
  const OnnxActivation& value = any_activation(i);
  if (is_usual(value.axes, extents(value))) return value;
  throw InputError(
      fmt::format("its input '{}' is not in the order n, c, [d,] [h,] w: the Transpose or Reshape "
                  "before it is not only layout",
                  shown(node_.input(i))));
}

const OnnxActivation& OnnxNode::usual(int i) const {
  activation(i);
  return padded(i);
}

bool OnnxNode::is_used(int i) const {
  const std::string& name = node_.output(i);
  return !name.empty() && (network_.reader_count(name) > 0 || network_.is_output(name));
}

double OnnxNode::scalar(int i, double absent) const {
  if (!has_input(i)) return absent;
  if (!is_tensor(i)) {
    if (const auto computed = network_.number(node_.input(i))) return *computed;
  }
  const OnnxTensor& number = tensor(i);
  if (number.proto && has_values(*number.proto)) return scalar_value(*number.proto);
  throw InputError(fmt::format("its input '{}' has no value", shown(number.name)));
}

std::vector<std::int64_t> OnnxNode::integers(int i) const {
  if (!has_input(i)) throw InputError(fmt::format("it has no input {}", i));
  const auto computed = network_.shapes().integers.find(node_.input(i));
  if (computed != network_.shapes().integers.end()) return computed->second;
  const OnnxTensor& numbers = tensor(i);
  if (numbers.proto) return integer_values(*numbers.proto);
  throw InputError(fmt::format("its input '{}' has no values", shown(numbers.name)));
}

const TensorDims& OnnxNode::output_dims() const {
  const auto& known = network_.shapes().dims;
  const auto at = known.find(output());
  if (at != known.end()) return at->second;
  throw InputError("the shape of its output is not known");
}

std::string OnnxNode::wanted_name() const {
  const std::string module = layer_name(module_of(node_));
  if (!module.empty()) return fmt::format("{}_{}", module, layer_name(node_.op_type()));
  const std::string name = layer_name(node_.name());
  return name.empty() ? fmt::format("{}_{}", layer_name(node_.op_type()), number_) : name;
}

LayerId OnnxNode::layer(Op op, std::vector<LayerId> inputs) {
  return layer(std::move(op), std::move(inputs), usual_axes(output_dims().size()));
}

LayerId OnnxNode::layer(Op op, std::vector<LayerId> inputs, Axes axes) {
  return layer(std::move(op), std::move(inputs), std::move(axes), node_);
}

LayerId OnnxNode::layer(Op op, std::vector<LayerId> inputs, Axes axes,
                        const onnx::NodeProto& last) {
  const TensorDims& dims = OnnxNode(network_, last, number_, opset_).output_dims();
  network_.define(last.output(0), OnnxFailed{});
  const LayerId id = network_.add(wanted_name(), std::move(op), std::move(inputs));
  const OnnxActivation value{id, std::move(axes), {}};
  network_.define(last.output(0), value);
  if (!agrees(value, network_.output(id), dims)) {
    throw InputError(fmt::format("its output is {} here, but by its inputs' shapes {}",
                                 print_shape(value, network_.output(id)), print_dims(dims)));
  }
  return id;
}

void OnnxNode::alias(OnnxValue value) {
  if (auto* view = std::get_if<OnnxView>(&value)) {
    const auto& known = network_.shapes().dims;
    const auto at = known.find(output());
    if (at != known.end() && at->second != dims_of(view->axes)) {
      throw InputError(fmt::format("its output is {} here, but by its inputs' shapes {}",
                                   print_dims(dims_of(view->axes)), print_dims(at->second)));
    }
    if (auto activation = plain(network_, *view)) value = std::move(*activation);
  }
  if (const auto* activation = std::get_if<OnnxActivation>(&value)) {
    const Extents& extents = network_.output(activation->layer);
    if (!agrees(*activation, extents, output_dims())) {
      throw InputError(fmt::format("its output is {} here, but by its inputs' shapes {}",
                                   print_shape(*activation, extents), print_dims(output_dims())));
    }
  }
  network_.define(output(), std::move(value));
}

}  // namespace strata
