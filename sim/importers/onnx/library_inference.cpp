#include "sim/importers/onnx/library_inference.h"

#include <algorithm>
#include <exception>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/later_ops.h"
#include "sim/importers/onnx/names.h"

namespace strata {
namespace {

constexpr int kIrVersion = 8;  // of opset 17

// As an initializer, where they are known: integers may be the shapes that nodes want.
bool add_integers(onnx::GraphProto& graph, const std::string& name, const KnownValues& known,
                  const onnx::TypeProto& type) {
  if (const auto* tensor = known.tensor(name); tensor != nullptr && holds_integers(*tensor)) {
    (*graph.add_initializer() = *tensor).set_name(name);
    return true;
  }
  if (type.tensor_type().elem_type() != onnx::TensorProto::INT64) return false;
  const auto integers = known.integers(name);
  if (!integers) return false;
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.mutable_dims()->Assign(integers->dims.begin(), integers->dims.end());
  tensor.mutable_int64_data()->Assign(integers->values.begin(), integers->values.end());
  return true;
}

void add_node(onnx::GraphProto& graph, const onnx::NodeProto& node, const KnownValues& known,
              const ValueTypes& types) {
  graph.set_name("node");
  *graph.add_node() = node;
  graph.mutable_node(0)->clear_domain();
  const std::set<std::string> names(node.input().begin(), node.input().end());
  for (const std::string& name : names) {
    const auto type = types.find(name);
    if (name.empty() || type == types.end()) continue;
    if (add_integers(graph, name, known, type->second)) continue;
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(name);
    *input.mutable_type() = type->second;
  }
}

// Of what a vendor's exception says the first line.
[[noreturn]] void fail_by(std::string_view part, const std::exception& error) {
  const std::string_view text = error.what();
  throw InputError(
      fmt::format("ONNX's {} says: {}", part, shown(text.substr(0, text.find('\n')), kLongest)));
}

}  // namespace

void check_by_library(const onnx::NodeProto& node, int opset) {
  onnx::checker::CheckerContext context;
  context.set_ir_version(kIrVersion);
  context.set_opset_imports({{"", std::min(opset, kLibraryOpset)}});
  try {
    onnx::checker::check_node(node, context, onnx::checker::LexicalScopeContext{});
  } catch (const std::exception& error) {
    fail_by("checker", error);
  }
}

std::vector<onnx::ValueInfoProto> infer_by_library(const onnx::NodeProto& node, int opset,
                                                   const KnownValues& known,
                                                   const ValueTypes& types) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.add_opset_import()->set_version(std::min(opset, kLibraryOpset));
  add_node(*model.mutable_graph(), node, known, types);
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {true, 1, false});
  } catch (const std::exception& error) {
    fail_by("shape inference", error);
  }
  return {model.graph().value_info().begin(), model.graph().value_info().end()};
}

}  // namespace strata
