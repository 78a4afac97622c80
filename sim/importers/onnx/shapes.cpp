#include "sim/importers/onnx/shapes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/declared_shapes.h"
#include "sim/importers/onnx/graph_inputs.h"
#include "sim/importers/onnx/integer_folding.h"
#include "sim/importers/onnx/known_values.h"
#include "sim/importers/onnx/library_inference.h"
#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/newer_ops.h"
#include "sim/importers/onnx/shape_rules.h"
#include "sim/importers/onnx/soundness.h"
#include "sim/importers/onnx/unknown_ops.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

constexpr int kUnknown = onnx::TensorProto::UNDEFINED;

// Node by node, so that an error names its node, and a node sees the integers that those before it
// computed.
class Inference {
 public:
  Inference(int opset, std::int64_t batch, DeclaredShapes said)
      : opset_(opset), batch_(batch), said_(std::move(said)) {}

  void add_input(const onnx::ValueInfoProto& input, bool is_data) {
    onnx::TypeProto type = input.type();
    if (is_data) {
      auto& shape = *type.mutable_tensor_type()->mutable_shape();
      shape.mutable_dim(0)->set_dim_value(batch_);
    }
    add_value(input.name(), std::move(type));
  }

  void add_tensor(const std::string& name, const onnx::TensorProto& tensor) {
    known_.add_tensor(name, tensor);
    add_type(name, tensor.data_type());
  }

  void add_node(const onnx::NodeProto& node) {
    if (sees(node)) {
      check_for_inference(node, known_.all_dims());
      infer(node);
    }
    for (const std::string& name : node.output()) add_said(name);
  }

  void move_to(OnnxShapes& shapes) && {
    shapes.dims = known_.all_dims();
    shapes.integers = known_.computed_integers();
    shapes.numbers = known_.computed_numbers();
    for (const auto& [name, type] : types_) shapes.elements[name] = type.tensor_type().elem_type();
    shapes.unseen = std::move(unseen_);
  }

 private:
  bool sees(const onnx::NodeProto& node) const {
    return is_plain(node, opset_) &&
           std::none_of(node.input().begin(), node.input().end(),
                        [&](const auto& name) { return unseen_.contains(name); });
  }

  void infer(const onnx::NodeProto& node) {
    if (node.output_size() == 0) return;
    if (node.op_type() == "Constant") return add_constant(node);
    if (has_shape_rule(node.op_type())) {
      add_by_rule(node);
      fold_integers(node);
      fold_number(node);
    } else if (is_of_library(node, opset_)) {
      add_by_library(node);
    }
  }

  void add_constant(const onnx::NodeProto& node) {
    const NodeAttributes attributes(node);
    const onnx::TensorProto* tensor = attributes.tensor("value");
    if (tensor) return add_tensor(node.output(0), *tensor);
    auto plain = attributes.plain_constant();
    if (!plain) return;
    const int type = plain->data_type();
    known_.add_constant(node.output(0), std::move(*plain));
    add_type(node.output(0), type);
  }

  void add_by_rule(const onnx::NodeProto& node) {
    const auto all = output_dims(KnownNode(node, opset_, known_));
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string& name = node.output(i);
      if (name.empty()) continue;
      if (const auto& dims = all[static_cast<std::size_t>(i)]) known_.add(name, *dims);
      add_type(name, type_of_output(node, i));
    }
  }

  // An op may have changed since the last opset that the library knows.
  void add_by_library(const onnx::NodeProto& node) try {
    if (opset_ > kLibraryOpset) check_by_library(node, opset_);
    for (auto& value : infer_by_library(node, opset_, known_, types_))
      add_value(value.name(), std::move(*value.mutable_type()));
  } catch (const InputError&) {
    if (opset_ <= kLibraryOpset) throw;
  }

  // What neither knows the dims of, and the file says.
  void add_said(const std::string& name) {
    if (name.empty() || known_.dims(name) != nullptr) return;
    if (auto type = said_.type(name)) return add_value(name, std::move(*type));
    if (!types_.contains(name)) unseen_.insert(name);
  }

  void add_value(const std::string& name, onnx::TypeProto type) {
    if (type.tensor_type().has_shape()) {
      if (auto dims = known_dims(type.tensor_type().shape())) known_.add(name, std::move(*dims));
    }
    types_[name] = std::move(type);
  }

  // With the dims that are known of it.
  void add_type(const std::string& name, int element) {
    onnx::TypeProto& type = types_[name];
    type.mutable_tensor_type()->set_elem_type(element);
    const TensorDims* dims = known_.dims(name);
    if (dims == nullptr) return;
    auto& shape = *type.mutable_tensor_type()->mutable_shape();
    for (const std::int64_t dim : *dims) shape.add_dim()->set_dim_value(dim);
  }

  int type_of(const onnx::NodeProto& node, int input) const {
    if (input >= node.input_size()) return kUnknown;
    const auto at = types_.find(node.input(input));
    return at == types_.end() ? kUnknown : at->second.tensor_type().elem_type();
  }

  int type_of_output(const onnx::NodeProto& node, int output) const {
    const std::string_view op = node.op_type();
    if (op == "Shape" || op == "Size" || (op == "MaxPool" && output == 1))
      return onnx::TensorProto::INT64;
    if ((op == "Dropout" && output == 1) || op == "Equal") return onnx::TensorProto::BOOL;
    if (op == "Where") return type_of(node, 1);
    if (op == "CastLike") return type_of(node, 1);
    const NodeAttributes attributes(node);
    if (op == "Cast") return static_cast<int>(attributes.integer("to", kUnknown));
    if (op != "ConstantOfShape") return type_of(node, 0);
    const onnx::TensorProto* value = attributes.tensor("value");
    return value ? value->data_type() : onnx::TensorProto::FLOAT;
  }

  void fold_integers(const onnx::NodeProto& node) {
    const TensorDims* dims = known_.dims(node.output(0));
    if (dims == nullptr || !may_fold(node)) return;
    if (node.op_type() == "Div" && type_of(node, 0) != onnx::TensorProto::INT64) return;
    std::vector<KnownIntegers> inputs;
    for (int i = 0; i < data_inputs(node); ++i) {
      auto input = input_of(node, i);
      if (!input) return;
      inputs.push_back(std::move(*input));
    }
    if (auto values = fold(node, inputs, *dims, type_of_output(node, 0)))
      known_.add_integers(node.output(0), std::move(*values));
  }

  // A shape is known without the numbers that have it.
  std::optional<KnownIntegers> input_of(const onnx::NodeProto& node, int i) const {
    const std::string& name = node.input(i);
    if (name.empty()) return KnownIntegers{};
    const bool dims_alone = node.op_type() == "Shape" || node.op_type() == "Size";
    if (!dims_alone) return known_.integers(name);
    const TensorDims* dims = known_.dims(name);
    return dims ? std::optional(KnownIntegers{*dims, {}}) : std::nullopt;
  }

  void fold_number(const onnx::NodeProto& node) {
    constexpr std::array<std::string_view, 7> kPassingOn = {
        "Cast", "CastLike", "Expand", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
    onnx::TensorProto type;
    type.set_data_type(type_of_output(node, 0));
    if (!holds_floats(type)) return;
    if (std::find(kPassingOn.begin(), kPassingOn.end(), node.op_type()) == kPassingOn.end()) return;
    if (const auto number = known_.number(node.input(0)))
      known_.add_number(node.output(0), *number);
  }

  int opset_;
  std::int64_t batch_;
  DeclaredShapes said_;
  KnownValues known_;
  ValueTypes types_;
  std::set<std::string, std::less<>> unseen_;
};

void add_initializers(const onnx::GraphProto& graph, Inference& inference,
                      const std::string& file) {
  Diagnostics wrong;
  for (const auto& tensor : graph.initializer()) {
    try {
      inference.add_tensor(tensor.name(), tensor);
    } catch (const InputError& error) {
      wrong.add({file, 0},
                fmt::format("initializer '{}': {}", shown(tensor.name()), error.message()));
    }
  }
  wrong.throw_if_any();
}

void add_inputs(const onnx::GraphProto& graph, const GraphInputs& inputs, Inference& inference) {
  const std::set<std::string> data(inputs.data.begin(), inputs.data.end());
  const std::set<std::string> parameters(inputs.parameters.begin(), inputs.parameters.end());
  for (const auto& input : graph.input()) {
    const bool is_data = data.contains(input.name());
    if (is_data || parameters.contains(input.name())) inference.add_input(input, is_data);
  }
}

}  // namespace

OnnxShapes infer_shapes(const onnx::ModelProto& model, const std::string& file) {
  OnnxShapes shapes;
  shapes.inputs = sort_inputs(model.graph(), file);
  shapes.batch = shapes.inputs.batch ? *shapes.inputs.batch : symbolic_batch(model.graph());
  Inference inference(opset_of(model, file), shapes.batch,
                      DeclaredShapes(model.graph(), shapes.inputs, shapes.batch));
  add_initializers(model.graph(), inference, file);
  add_inputs(model.graph(), shapes.inputs, inference);
  int number = 0;
  for (const auto& node : model.graph().node()) {
    try {
      inference.add_node(node);
    } catch (const InputError& error) {
      fail({file, 0}, fmt::format("{}: {}", shown(node, number), error.message()));
    }
    ++number;
  }
  std::move(inference).move_to(shapes);
  return shapes;
}

}  // namespace strata
