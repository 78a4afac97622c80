#include "sim/importers/onnx/newer_ops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/names.h"

namespace strata {
namespace {

using Attribute = onnx::AttributeProto;

// Its attributes by type, each followed by a space.
struct NewerOp {
  std::string_view op;
  int since;
  int fewest, most;  ///< inputs
  std::string_view integers, lists, numbers, texts;
};

// From https://onnx.ai/onnx/operators/; the latest version of an op comes last.
constexpr std::array kNewerOps = {
    NewerOp{"Attention", 23, 3, 6,
            "is_causal kv_num_heads q_num_heads qk_matmul_output_mode softmax_precision ", "",
            "scale softcap ", ""},
    NewerOp{"AveragePool", 19, 1, 1, "ceil_mode count_include_pad ",
            "dilations kernel_shape pads strides ", "", "auto_pad "},
    NewerOp{"Cast", 19, 1, 1, "saturate to ", "", "", ""},
    NewerOp{"CastLike", 19, 2, 2, "saturate ", "", "", ""},
    NewerOp{"Gelu", 20, 1, 1, "", "", "", "approximate "},
    NewerOp{"GroupNormalization", 18, 3, 3, "num_groups stash_type ", "", "epsilon ", ""},
    NewerOp{"LpPool", 18, 1, 1, "ceil_mode p ", "dilations kernel_shape pads strides ", "",
            "auto_pad "},
    NewerOp{"Mish", 18, 1, 1, "", "", "", ""},
    NewerOp{"Pad", 18, 2, 4, "", "", "", "mode "},
    NewerOp{"RMSNormalization", 23, 2, 2, "axis stash_type ", "", "epsilon ", ""},
    NewerOp{"ReduceL1", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceL2", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceLogSum", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceLogSumExp", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceMax", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceMean", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceMin", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceProd", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"ReduceSumSquare", 18, 1, 2, "keepdims noop_with_empty_axes ", "", "", ""},
    NewerOp{"Resize", 18, 1, 4, "antialias exclude_outside ", "axes ",
            "cubic_coeff_a extrapolation_value ",
            "coordinate_transformation_mode keep_aspect_ratio_policy mode nearest_mode "},
    NewerOp{"Split", 18, 1, 2, "axis num_outputs ", "", "", ""},
};

const NewerOp* find(std::string_view op, int opset) {
  const auto* at = std::find_if(kNewerOps.begin(), kNewerOps.end(), [&](const NewerOp& later) {
    return later.op == op && later.since <= opset;
  });
  return at == kNewerOps.end() ? nullptr : at;
}

std::string_view names_of(const NewerOp& op, Attribute::AttributeType type) {
  switch (type) {
    case Attribute::INT:
      return op.integers;
    case Attribute::INTS:
      return op.lists;
    case Attribute::FLOAT:
      return op.numbers;
    case Attribute::STRING:
      return op.texts;
    default:
      return "";
  }
}

bool is_among(std::string_view names, const std::string& name) {
  const std::string wanted = name + " ";
  return (" " + std::string(names)).find(" " + wanted) != std::string::npos;
}

void check_attribute(const NewerOp& op, const Attribute& attribute) {
  const std::string& name = attribute.name();
  if (is_among(names_of(op, attribute.type()), name)) return;
  const bool known = is_among(op.integers, name) || is_among(op.lists, name) ||
                     is_among(op.numbers, name) || is_among(op.texts, name);
  throw InputError(fmt::format("attribute {} is {} of {} since opset {}", shown(name),
                               known ? "of another type than that" : "none", op.op, op.since));
}

}  // namespace

bool is_newer_op(std::string_view op, int opset) {
  return find(op, opset) != nullptr;
}

int fewest_of_newer_op(std::string_view op) {
  const NewerOp* newer = find(op, std::numeric_limits<int>::max());
  return newer == nullptr ? 0 : newer->fewest;
}

void check_newer_op(const onnx::NodeProto& node, int opset) {
  const NewerOp& op = *find(node.op_type(), opset);
  const int inputs = node.input_size();
  if (inputs < op.fewest || inputs > op.most) {
    throw InputError(fmt::format("it has {} inputs; allowed: {} to {}, since opset {}", inputs,
                                 op.fewest, op.most, op.since));
  }
  if (node.output_size() == 0) throw InputError("it has no output");
  for (const auto& attribute : node.attribute()) check_attribute(op, attribute);
}

}  // namespace strata
