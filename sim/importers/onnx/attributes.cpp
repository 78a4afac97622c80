#include "sim/importers/onnx/attributes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

const onnx::AttributeProto* NodeAttributes::find(std::string_view name) const {
  for (const auto& attribute : node_->attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::int64_t NodeAttributes::integer(std::string_view name, std::int64_t absent) const {
  const auto* attribute = find(name);
  return attribute ? attribute->i() : absent;
}

double NodeAttributes::number(std::string_view name, double absent) const {
  const auto* attribute = find(name);
  return attribute ? shortest(attribute->f()) : absent;
}

std::string NodeAttributes::text(std::string_view name, std::string_view absent) const {
  const auto* attribute = find(name);
  return attribute ? attribute->s() : std::string(absent);
}

std::vector<std::int64_t> NodeAttributes::integers(std::string_view name) const {
  const auto* attribute = find(name);
  if (!attribute) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<float> NodeAttributes::numbers(std::string_view name) const {
  const auto* attribute = find(name);
  if (!attribute) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

const onnx::TensorProto* NodeAttributes::tensor(std::string_view name) const {
  const auto* attribute = find(name);
  return attribute && attribute->has_t() ? &attribute->t() : nullptr;
}

std::optional<onnx::TensorProto> NodeAttributes::plain_constant() const {
  onnx::TensorProto tensor;
  const auto* number = find("value_float");
  const auto* numbers = find("value_floats");
  const auto* integer = find("value_int");
  const auto* integers = find("value_ints");
  if (number) tensor.add_float_data(number->f());
  if (numbers) *tensor.mutable_float_data() = numbers->floats();
  if (integer) tensor.add_int64_data(integer->i());
  if (integers) *tensor.mutable_int64_data() = integers->ints();
  if (!number && !numbers && !integer && !integers) return std::nullopt;
  tensor.set_data_type(number || numbers ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64);
  if (numbers) tensor.add_dims(tensor.float_data_size());
  if (integers) tensor.add_dims(tensor.int64_data_size());
  return tensor;
}

double shortest(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

bool is_onnx_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

int data_inputs(const onnx::NodeProto& node) {
  const bool one = is_onnx_domain(node.domain()) && node.op_type() == "CastLike";
  return one ? std::min(node.input_size(), 1) : node.input_size();
}

bool holds_graph(const onnx::NodeProto& node) {
  const auto& attributes = node.attribute();
  return std::any_of(attributes.begin(), attributes.end(), [](const auto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
}

std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count)
    throw InputError(fmt::format("its axis is {}; allowed: {} to {}", axis, -count, count - 1));
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

bool has_each_axis_once(std::vector<std::int64_t> order, std::size_t rank) {
  std::vector<std::int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  std::sort(order.begin(), order.end());
  return order == all;
}

std::vector<std::size_t> checked_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::set<std::size_t> sorted;
  for (const std::int64_t axis : axes) sorted.insert(checked_axis(axis, rank));
  if (sorted.size() == axes.size()) return {sorted.begin(), sorted.end()};
  throw InputError(fmt::format("its axes are {}; allowed: each at most once", print_dims(axes)));
}

}  // namespace strata
