#include "sim/formats/onnx/shapes.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <onnx/shape_inference/implementation.h>

#include "sim/base/error.h"
#include "sim/formats/onnx/inference_guard.h"
#include "sim/formats/onnx/integer_folding.h"
#include "sim/formats/onnx/names.h"
#include "sim/formats/onnx/soundness.h"
#include "sim/formats/onnx/symbolic_batch.h"
#include "sim/formats/onnx/unknown_ops.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

onnx::TypeProto type_of(const onnx::TensorProto& tensor) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(tensor.data_type());
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t dim : dims_of(tensor)) shape.add_dim()->set_dim_value(dim);
  return type;
}

std::optional<TensorDims> known(const onnx::TensorShapeProto& shape) {
  TensorDims dims;
  for (const auto& dim : shape.dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

// Node by node, so that an error names its node, and a node sees the integers that those before it
// computed. It goes through ONNX's inference as a model of its own.
class Inference {
 public:
  Inference(int opset, OnnxShapes& shapes) : opset_(opset), shapes_(shapes) {}

  void add_input(const onnx::ValueInfoProto& input, bool is_data) {
    onnx::TypeProto type = input.type();
    if (is_data) {
      auto& shape = *type.mutable_tensor_type()->mutable_shape();
      shape.mutable_dim(0)->set_dim_value(shapes_.batch);
    }
    add_value(input.name(), std::move(type));
  }

  // Integers may be the shapes that nodes want; of most floats the dims are enough.
  void add_tensor(const std::string& name, const onnx::TensorProto& tensor) {
    if (element_count(dims_of(tensor)) <= kMostFolded && holds_integers(tensor)) {
      integer_values(tensor);  // which checks them
      constants_[name] = &tensor;
    }
    if (may_be_scales(tensor)) scales_[name] = &tensor;
    add_value(name, type_of(tensor));
  }

  void add_node(const onnx::NodeProto& node) {
    if (!sees(node)) {
      shapes_.unseen.insert(node.output().begin(), node.output().end());
      return;
    }
    check_for_inference(node, shapes_.dims);
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset_);
    add_to(*model.mutable_graph(), node);
    const std::unordered_map<std::string, onnx::TensorShapeProto> integers = infer(model);
    for (auto& value : *model.mutable_graph()->mutable_value_info()) {
      if (is_pooling(node)) correct(node, *value.mutable_type());
      add_value(value.name(), value.type());
    }
    for (const auto& [name, shape] : integers) {
      if (auto values = known(shape)) shapes_.integers[name] = std::move(*values);
    }
    if (node.op_type() == "Constant") add_constant(node);
    if (may_fold(node)) fold_node(node);
  }

 private:
  static bool is_pooling(const onnx::NodeProto& node) {
    return node.op_type() == "MaxPool" || node.op_type() == "AveragePool";
  }

  void correct(const onnx::NodeProto& pooling, onnx::TypeProto& output) const {
    const auto input = shapes_.dims.find(pooling.input(0));
    if (input != shapes_.dims.end()) drop_late_windows(pooling, input->second, output);
  }

  bool sees(const onnx::NodeProto& node) const {
    return is_plain(node, opset_) &&
           std::none_of(node.input().begin(), node.input().end(),
                        [&](const auto& name) { return shapes_.unseen.contains(name); });
  }

  void add_value(const std::string& name, onnx::TypeProto type) {
    if (type.tensor_type().has_shape()) {
      if (auto dims = known(type.tensor_type().shape())) shapes_.dims[name] = std::move(*dims);
    }
    types_[name] = std::move(type);
  }

  void add_constant(const onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "value") add_tensor(node.output(0), attribute.t());
    }
  }

  // What it knows better than ONNX's inference, which lets a list through where a table is cut.
  void fold_node(const onnx::NodeProto& node) {
    const auto dims = shapes_.dims.find(node.output(0));
    if (dims == shapes_.dims.end()) return;
    std::vector<KnownIntegers> inputs;
    for (const auto& name : node.input()) {
      auto input = name.empty() ? KnownIntegers{} : known_integers(name);
      if (!input) return;
      inputs.push_back(std::move(*input));
    }
    if (auto values = fold(node, inputs, dims->second))
      shapes_.integers[node.output(0)] = std::move(*values);
  }

  std::optional<KnownIntegers> known_integers(const std::string& name) const {
    if (const auto constant = constants_.find(name); constant != constants_.end())
      return KnownIntegers{dims_of(*constant->second), integer_values(*constant->second)};
    const auto values = shapes_.integers.find(name);
    const auto dims = shapes_.dims.find(name);
    if (values == shapes_.integers.end() || dims == shapes_.dims.end()) return std::nullopt;
    if (element_count(dims->second) != std::ssize(values->second)) return std::nullopt;
    return KnownIntegers{dims->second, values->second};
  }

  void add_to(onnx::GraphProto& graph, const onnx::NodeProto& node) const {
    graph.set_name("node");
    *graph.add_node() = node;
    graph.mutable_node(0)->clear_domain();
    const std::set<std::string> names(node.input().begin(), node.input().end());
    for (const std::string& name : names) {
      const auto type = types_.find(name);
      if (name.empty() || type == types_.end()) continue;
      if (add_integers(graph, name)) continue;
      if (wants_scales(node) && add_scales(graph, name)) continue;
      onnx::ValueInfoProto& input = *graph.add_input();
      input.set_name(name);
      *input.mutable_type() = type->second;
    }
  }

  // As an initializer, where they are known.
  bool add_integers(onnx::GraphProto& graph, const std::string& name) const {
    if (const auto constant = constants_.find(name); constant != constants_.end()) {
      (*graph.add_initializer() = *constant->second).set_name(name);
      return true;
    }
    const bool int64 = types_.at(name).tensor_type().elem_type() == onnx::TensorProto::INT64;
    const auto known = int64 ? known_integers(name) : std::nullopt;
    if (!known) return false;
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.mutable_dims()->Assign(known->dims.begin(), known->dims.end());
    tensor.mutable_int64_data()->Assign(known->values.begin(), known->values.end());
    return true;
  }

  bool add_scales(onnx::GraphProto& graph, const std::string& name) const {
    const auto at = scales_.find(name);
    if (at == scales_.end()) return false;
    const std::vector<float> scales = checked_scales(*at->second);
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(std::ssize(scales));
    tensor.mutable_float_data()->Assign(scales.begin(), scales.end());
    return true;
  }

  static std::unordered_map<std::string, onnx::TensorShapeProto> infer(onnx::ModelProto& model) {
    std::unordered_map<std::string, onnx::TensorShapeProto> integers;
    try {
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {true, 1, true},
                                         &integers);
    } catch (const std::exception& error) {
      const std::string_view text = error.what();
      throw InputError(fmt::format("ONNX's shape inference says: {}",
                                   shown(text.substr(0, text.find('\n')), kLongest)));
    }
    return integers;
  }

  int opset_;
  OnnxShapes& shapes_;
  std::map<std::string, onnx::TypeProto> types_;
  std::map<std::string, const onnx::TensorProto*> constants_;
  std::map<std::string, const onnx::TensorProto*> scales_;  ///< or what could be some
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
  Inference inference(opset_of(model, file), shapes);
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
  return shapes;
}

}  // namespace strata
