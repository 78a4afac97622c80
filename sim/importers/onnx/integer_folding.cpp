#include "sim/importers/onnx/integer_folding.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <string_view>
#include <utility>

#include "sim/importers/onnx/attributes.h"

namespace strata {
namespace {

using Values = std::vector<std::int64_t>;
using Folded = std::optional<Values>;
using Inputs = std::vector<KnownIntegers>;

// Before the axis all go by turns.
Folded joined(const onnx::NodeProto& node, const Inputs& inputs, const TensorDims& dims) {
  const auto rank = std::ssize(dims);
  std::int64_t axis = NodeAttributes(node).integer("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || element_count(dims) == 0) return std::nullopt;
  const auto turns = element_count({dims.begin(), dims.begin() + axis});
  Values result;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    for (const KnownIntegers& input : inputs) {
      const std::int64_t part = std::ssize(input.values) / turns;
      const auto from = input.values.begin() + turn * part;
      result.insert(result.end(), from, from + part);
    }
  }
  return result;
}

Folded filled(const onnx::NodeProto& node, const TensorDims& dims) {
  const onnx::TensorProto* value = NodeAttributes(node).tensor("value");
  if (value == nullptr || !holds_integers(*value)) return std::nullopt;  // zeros of floats
  const Values values = integer_values(*value);
  if (values.size() != 1) return std::nullopt;
  return Values(static_cast<std::size_t>(element_count(dims)), values[0]);
}

// Of whole rows.
Folded gathered(const onnx::NodeProto& node, const Inputs& inputs) {
  const KnownIntegers& data = inputs[0];
  if (NodeAttributes(node).integer("axis", 0) != 0 || data.dims.empty()) return std::nullopt;
  const std::int64_t rows = data.dims[0], row = rows == 0 ? 0 : std::ssize(data.values) / rows;
  Values result;
  for (std::int64_t at : inputs[1].values) {
    if (at < -rows || at >= rows) return std::nullopt;
    const auto from = data.values.begin() + (at < 0 ? at + rows : at) * row;
    result.insert(result.end(), from, from + row);
  }
  return result;
}

// Rounded down, as long as it is not asked which way.
std::optional<std::int64_t> divided(std::int64_t a, std::int64_t b) {
  return a >= 0 && b > 0 ? std::optional(a / b) : std::nullopt;
}

std::optional<std::int64_t> computed(std::string_view op, std::int64_t a, std::int64_t b) {
  if (op == "Div") return divided(a, b);
  if (op == "Equal") return a == b ? 1 : 0;
  if (op == "Mod") return a >= 0 && b > 0 ? std::optional(a % b) : std::nullopt;
  std::int64_t result = 0;
  const bool overflows = op == "Add"   ? __builtin_add_overflow(a, b, &result)
                         : op == "Sub" ? __builtin_sub_overflow(a, b, &result)
                                       : __builtin_mul_overflow(a, b, &result);
  return overflows ? std::nullopt : std::optional(result);
}

// Of equally many numbers, or of one with each.
Folded computed(std::string_view op, const Values& a, const Values& b) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  Values result;
  for (std::size_t i = 0; i < (a.size() == 1 ? b.size() : a.size()); ++i) {
    const auto value = computed(op, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!value) return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

// From one dim of a tensor's to another: all of them, or those of a Shape's start and end.
Folded shape_of(const onnx::NodeProto& node, const TensorDims& input, const TensorDims& dims) {
  const auto rank = std::ssize(input);
  std::int64_t start = NodeAttributes(node).integer("start", 0);
  start = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
  const std::int64_t count = std::min(element_count(dims), rank - start);
  return Values(input.begin() + start, input.begin() + start + count);
}

// Of equally many numbers each.
Folded chosen(const Values& truths, const Values& yes, const Values& no) {
  if (truths.size() != yes.size() || truths.size() != no.size()) return std::nullopt;
  Values result = no;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    if (truths[i] != 0) result[i] = yes[i];
  }
  return result;
}

Folded spread(const Values& values, const TensorDims& dims) {
  if (values.size() != 1) return values;
  return Values(static_cast<std::size_t>(element_count(dims)), values[0]);
}

// The same numbers in other dims, or of another type: what rounds finds integers.
constexpr std::array<std::string_view, 9> kKeeping = {
    "Cast", "CastLike", "Ceil", "Floor", "Identity", "Reshape", "Round", "Squeeze", "Unsqueeze"};
constexpr std::array<std::string_view, 15> kComputing = {
    "Add",   "Concat", "ConstantOfShape", "Div", "Equal",     "Expand", "Gather", "Mod", "Mul",
    "Shape", "Size",   "Slice",           "Sub", "Transpose", "Where"};

template <class Names>
bool is_among(const Names& names, std::string_view op) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

// How far from 0 a type has every integer; of others nothing is known.
std::int64_t reach_of(int type) {
  switch (type) {
    case onnx::TensorProto::INT64:
      return INT64_MAX;
    case onnx::TensorProto::INT32:
      return INT_MAX;
    case onnx::TensorProto::FLOAT:
      return std::int64_t{1} << 24;
    case onnx::TensorProto::DOUBLE:
      return std::int64_t{1} << 53;
    default:
      return -1;
  }
}

bool fits(int type, const Values& values) {
  const std::int64_t reach = reach_of(type);
  return reach >= 0 && std::all_of(values.begin(), values.end(), [&](std::int64_t value) {
           return value <= reach && value >= -reach;
         });
}

Folded any_folded(const onnx::NodeProto& node, const Inputs& inputs, const TensorDims& dims) {
  const std::string_view op = node.op_type();
  if (op == "ConstantOfShape") return filled(node, dims);
  if (op == "Concat") return joined(node, inputs, dims);
  if (op == "Slice") return slice_table(node, inputs, dims);
  if (op == "Transpose") return transpose_table(node, inputs[0], dims);
  if (op == "Gather") return gathered(node, inputs);
  if (op == "Shape") return shape_of(node, inputs[0].dims, dims);
  if (op == "Size") return Values{element_count(inputs[0].dims)};
  if (op == "Where") return chosen(inputs[0].values, inputs[1].values, inputs[2].values);
  if (op == "Expand") return spread(inputs[0].values, dims);
  if (is_among(kComputing, op)) return computed(op, inputs[0].values, inputs[1].values);
  return inputs[0].values;
}

}  // namespace

bool may_fold(const onnx::NodeProto& node) {
  return is_among(kKeeping, node.op_type()) || is_among(kComputing, node.op_type());
}

Folded fold(const onnx::NodeProto& node, const Inputs& inputs, const TensorDims& dims, int type) {
  if (inputs.empty() || element_count(dims) > kMostFolded) return std::nullopt;
  const bool casts = node.op_type() == "Cast" || node.op_type() == "CastLike";
  if (casts && !fits(type, inputs[0].values)) return std::nullopt;
  Folded values = any_folded(node, inputs, dims);
  return values && std::ssize(*values) == element_count(dims) ? std::move(values) : std::nullopt;
}

}  // namespace strata
