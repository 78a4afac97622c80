#pragma once

// ONNX models for tests, written a node at a time, and a network as lines to compare.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/read_onnx.h"

namespace strata::testing {

using Dims = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// Sets attributes of a node: Attributes(node)("strides", Dims{2, 2})("group", 1).
class Attributes {
 public:
  explicit Attributes(onnx::NodeProto& node) : node_(&node) {}
  Attributes operator()(const std::string& name, int value) const {
    auto& attribute = add(name, onnx::AttributeProto::INT);
    attribute.set_i(value);
    return *this;
  }
  Attributes operator()(const std::string& name, double value) const {
    auto& attribute = add(name, onnx::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(value));
    return *this;
  }
  Attributes operator()(const std::string& name, const char* value) const {
    auto& attribute = add(name, onnx::AttributeProto::STRING);
    attribute.set_s(value);
    return *this;
  }
  Attributes operator()(const std::string& name, const Dims& values) const {
    auto& attribute = add(name, onnx::AttributeProto::INTS);
    attribute.mutable_ints()->Assign(values.begin(), values.end());
    return *this;
  }
  onnx::NodeProto& proto() const { return *node_; }

 private:
  onnx::AttributeProto& add(const std::string& name,
                            onnx::AttributeProto::AttributeType type) const {
    auto& attribute = *node_->add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  onnx::NodeProto* node_;
};

class Model {
 public:
  explicit Model(int opset = 13) {
    proto.set_ir_version(7);
    proto.add_opset_import()->set_version(opset);
    graph().set_name("graph");
  }

  onnx::GraphProto& graph() { return *proto.mutable_graph(); }

  /// A batch of 0 is symbolic.
  Model& input(const std::string& name, const Dims& dims) {
    auto& value = *graph().add_input();
    value.set_name(name);
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t dim : dims) {
      auto& added = *type.mutable_shape()->add_dim();
      dim > 0 ? added.set_dim_value(dim) : added.set_dim_param("batch");
    }
    return *this;
  }
  Model& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }

  /// Floats 0, 1, 2 and so on, unless they are given.
  onnx::TensorProto& weight(const std::string& name, const Dims& dims,
                            std::vector<float> values = {}) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
      tensor.add_dims(dim);
      count *= dim;
    }
    for (std::int64_t i = 0; values.empty() && i < count; ++i)
      tensor.add_float_data(static_cast<float>(i));
    for (const float value : values) tensor.add_float_data(value);
    return tensor;
  }
  Model& integers(const std::string& name, const Dims& values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return *this;
  }
  /// By a Constant node, as PyTorch writes them.
  Model& constant(const std::string& name, float value) {
    constant(name, std::vector<float>{value});
    graph().mutable_node(graph().node_size() - 1)->mutable_attribute(0)->mutable_t()->clear_dims();
    return *this;
  }
  Model& constant(const std::string& name, const std::vector<float>& values) {
    auto& attribute = *node("Constant", {}, name).proto().add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    attribute.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
    attribute.mutable_t()->add_dims(static_cast<std::int64_t>(values.size()));
    for (const float value : values) attribute.mutable_t()->add_float_data(value);
    return *this;
  }

  /// Named after its output, as its layer will be.
  Attributes node(const std::string& op, const Names& inputs, const std::string& output) {
    auto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(output);
    for (const auto& input : inputs) node.add_input(input);
    node.add_output(output);
    return Attributes(node);
  }

  std::string bytes() const { return proto.SerializeAsString(); }
  OnnxModel read(std::int64_t batch = 2, OnnxWeights weights = OnnxWeights::skip) const {
    return parse_onnx(bytes(), "net.onnx", batch, weights);
  }

  onnx::ModelProto proto;
};

/// "conv conv2d 4x1x6x6 +112 < x" a layer: its name, op, output, parameters and inputs.
inline std::vector<std::string> lines(const Graph& graph) {
  std::vector<std::string> result;
  for (const Layer& layer : graph.layers()) {
    const Extents& e = layer.output;
    std::string line = fmt::format("{} {} {}x{}x{}x{}", layer.name, name(layer.op), e[Dim::c],
                                   e[Dim::d], e[Dim::h], e[Dim::w]);
    if (layer.parameters.total() > 0) line += fmt::format(" +{}", layer.parameters.total());
    for (std::size_t i = 0; i < layer.inputs.size(); ++i)
      line += (i == 0 ? " < " : ", ") + graph[layer.inputs[i]].name;
    result.push_back(line);
  }
  return result;
}

/// One node between an input "x" of these dims and the output "y"; a network's lines but for x.
inline std::vector<std::string> one_node(Model& net, const Dims& dims) {
  net.input("x", dims).output("y");
  std::vector<std::string> result = lines(net.read().graph);
  result.erase(result.begin());
  return result;
}

}  // namespace strata::testing
