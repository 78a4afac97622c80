#include "sim/importers/onnx/unknown_ops.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/defs/schema.h>

#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/newer_ops.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

// Each op with the nodes that want it.
class UnknownOps {
 public:
  UnknownOps(int opset, bool any_op) : opset_(opset), any_op_(any_op) {}

  void add(const onnx::NodeProto& node, int number);
  void say(const Location& where, Diagnostics& wrong) const;

 private:
  struct Op {
    std::string name;
    bool may_be_opaque;
    auto operator<=>(const Op&) const = default;
  };

  int opset_;
  bool any_op_;
  std::map<Op, std::vector<std::string>> nodes_;
};

void UnknownOps::add(const onnx::NodeProto& node, int number) {
  const bool ours = is_onnx_domain(node.domain());
  const bool opaque = is_plain(node, opset_);
  if (opaque && (any_op_ || find_node_reader(node) != nullptr)) return;
  const std::string op =
      ours ? node.op_type() : fmt::format("{}.{}", node.domain(), node.op_type());
  nodes_[{op, opaque}].push_back(node.name().empty() ? fmt::format("#{}", number)
                                                     : shown(node.name()));
}

void UnknownOps::say(const Location& where, Diagnostics& wrong) const {
  constexpr std::size_t kNamed = 3;
  for (const auto& [op, nodes] : nodes_) {
    const std::vector<std::string> first(nodes.begin(),
                                         nodes.begin() + std::min(nodes.size(), kNamed));
    wrong.add(
        where,
        fmt::format("op {} is not supported: {} node{} ({}{}){}", shown(op.name), nodes.size(),
                    nodes.size() == 1 ? "" : "s", fmt::join(first, ", "),
                    nodes.size() > kNamed ? ", ..." : "",
                    op.may_be_opaque ? "; allowed: to predict, with `allow_unsupported`" : ""));
  }
}

bool in_library(const std::string& op, int opset) {
  return onnx::OpSchemaRegistry::Schema(op, std::min(opset, kLibraryOpset), "") != nullptr;
}

bool says_shape_alone(const onnx::NodeProto& node) {
  return node.op_type() == "Shape" || node.op_type() == "Size";
}

// What computes a shape alone reads none of them; graphs inside may read anything.
bool reads_any(const onnx::NodeProto& node, const std::set<std::string>& data) {
  const auto end = node.input().begin() + data_inputs(node);
  return holds_graph(node) || std::any_of(node.input().begin(), end,
                                          [&](const auto& name) { return data.contains(name); });
}

}  // namespace

bool is_plain(const onnx::NodeProto& node, int opset) {
  const bool ours = is_onnx_domain(node.domain()) && !holds_graph(node);
  return ours && (opset > kLibraryOpset || in_library(node.op_type(), opset));
}

bool is_of_library(const onnx::NodeProto& node, int opset) {
  return is_plain(node, opset) && !is_newer_op(node.op_type(), opset) &&
         in_library(node.op_type(), opset);
}

void check_ops(const OnnxNetwork& network, int opset, bool any_op, const std::string& file) {
  const auto& inputs = network.shapes().inputs.data;
  std::set<std::string> data(inputs.begin(), inputs.end());
  UnknownOps unknown(opset, any_op);
  int number = -1;
  for (const auto& node : network.graph().node()) {
    ++number;
    if (!reads_any(node, data)) continue;
    if (!says_shape_alone(node)) data.insert(node.output().begin(), node.output().end());
    if (network.is_live(number)) unknown.add(node, number);
  }
  Diagnostics wrong;
  unknown.say({file, 0}, wrong);
  wrong.throw_if_any();
}

}  // namespace strata
