#include "sim/formats/onnx/unknown_ops.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/defs/schema.h>

#include "sim/formats/onnx/names.h"
#include "sim/formats/onnx/node_readers.h"

namespace strata {

bool is_onnx_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

bool UnknownOps::may_be_opaque(const onnx::NodeProto& node) const {
  const auto& attributes = node.attribute();
  return is_onnx_domain(node.domain()) &&
         onnx::OpSchemaRegistry::Schema(node.op_type(), opset_, "") != nullptr &&
         std::none_of(attributes.begin(), attributes.end(), [](const auto& attribute) {
           return attribute.has_g() || attribute.graphs_size() > 0;
         });
}

void UnknownOps::add(const onnx::NodeProto& node, int number) {
  const bool ours = is_onnx_domain(node.domain());
  if (ours && find_node_reader(node.op_type())) return;
  const bool opaque = may_be_opaque(node);
  if (opaque && any_op_) return;
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
                    op.may_be_opaque ? "; allowed: to predict, with --allow-unsupported" : ""));
  }
}

}  // namespace strata
