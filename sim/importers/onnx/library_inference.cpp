#include "sim/importers/onnx/library_inference.h"

#include <algorithm>
#include <exception>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/newer_ops.h"

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

using KnownDims = std::map<std::string, TensorDims, std::less<>>;

const TensorDims* dims_of_input(const onnx::NodeProto& node, int i, const KnownDims& dims) {
  if (i >= node.input_size()) return nullptr;
  const auto at = dims.find(node.input(i));
  return at == dims.end() ? nullptr : &at->second;
}

// For windows: two axes before those that they slide over.
void check_spatial(const TensorDims& input) {
  if (input.size() >= 3) return;
  throw InputError(
      fmt::format("its input is {}; allowed: spatial dims after two others", print_dims(input)));
}

void check_kernel(const onnx::NodeProto& node, const TensorDims& input) {
  const auto kernel = NodeAttributes(node).integers("kernel_shape");
  if (kernel.empty() || kernel.size() + 2 == input.size()) return;
  throw InputError(
      fmt::format("its kernel has {} dims, its input {}", kernel.size(), input.size() - 2));
}

void check_weight(const TensorDims& weight, const TensorDims& input) {
  const bool whole =
      std::all_of(weight.begin(), weight.end(), [](std::int64_t dim) { return dim > 0; });
  if (whole && weight.size() == input.size()) return;
  throw InputError(fmt::format("its weight is {}, its input {}; allowed: equally many dims",
                               print_dims(weight), print_dims(input)));
}

void check_batch_dims(const onnx::NodeProto& node) {
  const std::int64_t dims = NodeAttributes(node).integer("batch_dims", 0);
  if (dims < 0) throw InputError(fmt::format("batch_dims is {}; allowed: from 0 on", dims));
}

// The library divides by the size of equal parts.
void check_parts(const onnx::NodeProto& node, const KnownValues& known) {
  if (node.op_type() != "SplitToSequence" || node.input_size() < 2) return;
  const auto parts = known.integers(node.input(1));
  if (!parts || std::ranges::all_of(parts->values, [](std::int64_t size) { return size > 0; }))
    return;
  throw InputError(
      fmt::format("its parts have sizes {}; allowed: from 1 on", print_dims(parts->values)));
}

// The library takes for tensors what its ops allow nothing else for.
void check_tensors(const onnx::NodeProto& node, const ValueTypes& types) {
  const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), kLibraryOpset, "");
  if (schema == nullptr || schema->inputs().empty()) return;
  for (int i = 0; i < node.input_size(); ++i) {
    const auto type = types.find(node.input(i));
    if (type == types.end() || type->second.has_tensor_type()) continue;
    const auto last = schema->inputs().size() - 1;
    const auto& allowed = schema->inputs()[std::min(static_cast<std::size_t>(i), last)].GetTypes();
    const auto is_tensor = [](const std::string* form) { return form->starts_with("tensor("); };
    if (!allowed.empty() && std::ranges::all_of(allowed, is_tensor)) {
      throw InputError(fmt::format("its input {} is a sequence; allowed: a tensor", i));
    }
  }
}

// Samples, signals and their parts, whatever is known of their sizes.
void check_signal(const onnx::NodeProto& node, const ValueTypes& types) {
  if (node.op_type() != "STFT" || node.input_size() == 0) return;
  const auto type = types.find(node.input(0));
  if (type == types.end() || !type->second.tensor_type().has_shape()) return;
  const int dims = type->second.tensor_type().shape().dim_size();
  if (dims == 3) return;
  throw InputError(fmt::format("its signal has {} dims; allowed: three", dims));
}

// Which input of a convolution the weight is; 0 of all other ops.
int weight_of(std::string_view op) {
  if (op == "Conv" || op == "ConvTranspose" || op == "ConvInteger") return 1;
  return op == "QLinearConv" ? 3 : 0;
}

void check_order(const onnx::NodeProto& node, const TensorDims& input) {
  if (!NodeAttributes(node).has("perm")) return;
  const std::vector<std::int64_t> order = NodeAttributes(node).integers("perm");
  if (has_each_axis_once(order, input.size())) return;
  throw InputError(fmt::format("perm is {}; allowed: each axis of {} once", print_dims(order),
                               print_dims(input)));
}

// Those before the first that may be left out, by the newest form that is known.
int needed_inputs(const std::string& op) {
  if (const int newer = fewest_of_newer_op(op)) return newer;
  const auto* schema = onnx::OpSchemaRegistry::Schema(op, kLibraryOpset, "");
  if (schema == nullptr) return 0;
  const auto& inputs = schema->inputs();
  const auto optional = std::find_if(inputs.begin(), inputs.end(), [](const auto& input) {
    return input.GetOption() != onnx::OpSchema::Single;
  });
  return static_cast<int>(optional - inputs.begin());
}

}  // namespace

void check_inputs(const onnx::NodeProto& node) {
  for (int i = 0; i < needed_inputs(node.op_type()); ++i) {
    if (i < node.input_size() && !node.input(i).empty()) continue;
    throw InputError(fmt::format("it has no input {}", i));
  }
}

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
  check_parts(node, known);
  check_tensors(node, types);
  check_signal(node, types);
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

void check_for_inference(const onnx::NodeProto& node, const KnownDims& dims) {
  const std::string_view op = node.op_type();
  const TensorDims* input = dims_of_input(node, 0, dims);
  if (!input) return;
  const int weight_at = weight_of(op);
  const bool slides = weight_at > 0 || op == "MaxPool" || op == "AveragePool" || op == "LpPool" ||
                      op == "MaxUnpool";
  if (slides || (op.starts_with("Global") && op.ends_with("Pool"))) check_spatial(*input);
  if (slides) check_kernel(node, *input);
  const TensorDims* weight = weight_at > 0 ? dims_of_input(node, weight_at, dims) : nullptr;
  if (weight) check_weight(*weight, *input);
  if (op == "Transpose") check_order(node, *input);
  if (op == "GatherND") check_batch_dims(node);
}

}  // namespace strata
