#include "sim/importers/onnx/soundness.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/graph.h"
#include "sim/graph/ops/limits.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/library_inference.h"
#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/newer_ops.h"
#include "sim/importers/onnx/shape_rules.h"
#include "sim/importers/onnx/unknown_ops.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

// The names of a graph's values, each written once, before it is read.
class ValueNames {
 public:
  ValueNames(const std::string& file, Diagnostics& wrong) : where_{file, 0}, wrong_(wrong) {}

  void add_sources(const onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) add(input.name(), "an input");
    std::unordered_set<std::string> initializers;
    for (const auto& tensor : graph.initializer()) {
      if (tensor.name().empty()) wrong_.add(where_, "an initializer has no name");
      if (!initializers.insert(tensor.name()).second) say_twice(tensor.name());
      known_.insert(tensor.name());  // old exporters list them among the inputs, too
    }
  }

  void add_node(const onnx::NodeProto& node, int number) {
    for (const auto& name : node.input()) {
      if (name.empty() || known_.contains(name) || !missing_.insert(name).second) continue;
      wrong_.add(where_, fmt::format("{}: reads '{}', which nothing before it writes; allowed: "
                                     "nodes in topological order, without cycles",
                                     shown(node, number), shown(name)));
    }
    for (const auto& name : node.output()) {
      if (!name.empty()) add(name, shown(node, number));
    }
  }

  void check_outputs(const onnx::GraphProto& graph) {
    if (graph.output().empty()) wrong_.add(where_, "its graph has no output");
    for (const auto& output : graph.output()) {
      if (known_.contains(output.name())) continue;
      wrong_.add(where_, fmt::format("output '{}' is not written", shown(output.name())));
    }
  }

 private:
  void add(const std::string& name, const std::string& writer) {
    if (name.empty()) wrong_.add(where_, fmt::format("{} has no name", writer));
    if (!known_.insert(name).second) say_twice(name);
  }
  void say_twice(const std::string& name) {
    wrong_.add(where_,
               fmt::format("the name '{}' is given twice; allowed: each value once", shown(name)));
  }

  Location where_;
  Diagnostics& wrong_;
  std::unordered_set<std::string> known_, missing_;  ///< missing: said once
};

void check_range(const NodeAttributes& attributes, const char* name, std::int64_t low) {
  for (const std::int64_t value : attributes.integers(name)) {
    if (value >= low && value <= kMaxWindow) continue;
    throw InputError(fmt::format("{} has {}; allowed: {} to {}", name, value, low, kMaxWindow));
  }
}

// Its square is 0 for 2^32.
void check_block(const NodeAttributes& attributes) {
  const std::int64_t block = attributes.integer("blocksize", 1);
  if (block >= 1 && block <= kMaxWindow) return;
  throw InputError(fmt::format("blocksize is {}; allowed: 1 to {}", block, kMaxWindow));
}

// ONNX's shape inference divides by these.
void check_windows(const onnx::NodeProto& node) {
  const NodeAttributes attributes(node);
  for (const char* name : {"kernel_shape", "strides", "dilations"})
    check_range(attributes, name, 1);
  if (node.op_type() != "Pad") check_range(attributes, "pads", 0);
  if (node.op_type() == "DepthToSpace" || node.op_type() == "SpaceToDepth") check_block(attributes);
}

// The shape of a number, which ONNX's library does not take for a list.
bool is_empty_constant(const onnx::NodeProto& node) {
  return node.op_type() == "Constant" && node.attribute_size() == 1 &&
         node.attribute(0).type() == onnx::AttributeProto::INTS &&
         node.attribute(0).name() == "value_ints" && node.attribute(0).ints().empty();
}

// What ONNX's library knows by the form that it has in this opset, too: all that is read here.
bool has_form_of_library(const onnx::NodeProto& node, int opset) {
  if (is_empty_constant(node)) return false;
  const bool stays =
      opset <= kLibraryOpset || has_shape_rule(node.op_type()) || node.op_type() == "Constant";
  return stays && is_of_library(node, opset);
}

void check_node(const onnx::NodeProto& node, int opset) {
  std::set<std::string_view> names;
  for (const auto& attribute : node.attribute()) {
    if (names.insert(attribute.name()).second) continue;
    throw InputError(fmt::format("attribute {} is given twice", shown(attribute.name())));
  }
  const bool by_library = has_form_of_library(node, opset);
  if (by_library) check_by_library(node, opset);
  if (is_newer_op(node.op_type(), opset)) check_newer_op(node, opset);
  if (!by_library) check_inputs(node);
  check_windows(node);
}

void check_nodes(const onnx::ModelProto& model, const std::string& file, int opset) {
  Diagnostics wrong;
  int number = 0;
  for (const auto& node : model.graph().node()) {
    try {
      if (is_plain(node, opset)) check_node(node, opset);
    } catch (const InputError& error) {
      wrong.add({file, 0}, fmt::format("{}: {}", shown(node, number), error.message()));
    }
    ++number;
  }
  wrong.throw_if_any();
}

void check_size(const onnx::GraphProto& graph, const std::string& file) {
  const auto nodes = static_cast<std::size_t>(graph.node_size());
  if (nodes == 0) fail({file, 0}, "its graph has no node");
  if (nodes <= kMaxLayers) return;
  fail({file, 0}, fmt::format("it has {} nodes; allowed: at most {}", nodes, kMaxLayers));
}

}  // namespace

int opset_of(const onnx::ModelProto& model, const std::string& file) {
  std::int64_t opset = 0;
  for (const auto& import : model.opset_import()) {
    if (is_onnx_domain(import.domain())) opset = std::max(opset, import.version());
  }
  const auto allowed = fmt::format("allowed: {} to {}", kOldestOpset, kNewestOpset);
  if (opset == 0) fail({file, 0}, "it does not say its opset; " + allowed);
  if (opset < kOldestOpset || opset > kNewestOpset)
    fail({file, 0}, fmt::format("it was exported with opset {}; {}", opset, allowed));
  return static_cast<int>(opset);
}

void check_sound(const onnx::ModelProto& model, const std::string& file) {
  if (!model.has_graph()) fail({file, 0}, "it holds no graph; allowed: what ONNX exporters write");
  const int opset = opset_of(model, file);
  const onnx::GraphProto& graph = model.graph();
  check_size(graph, file);
  Diagnostics wrong;
  ValueNames names(file, wrong);
  names.add_sources(graph);
  int number = 0;
  for (const auto& node : graph.node()) names.add_node(node, number++);
  names.check_outputs(graph);
  wrong.throw_if_any();
  check_nodes(model, file, opset);
}

}  // namespace strata
