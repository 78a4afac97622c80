#include "sim/importers/onnx/constants.h"

#include <algorithm>
#include <utility>

#include "sim/base/error.h"
#include "sim/importers/onnx/attributes.h"

namespace strata {
namespace {

constexpr int kDeepestConstant = 200;

template <class T>
std::optional<std::vector<double>> small_integers(const onnx::TensorProto& tensor) {
  std::vector<double> values;
  if (tensor.has_raw_data()) {
    for (const char byte : tensor.raw_data()) values.push_back(static_cast<T>(byte));
  } else {
    for (const auto value : tensor.int32_data()) values.push_back(static_cast<double>(value));
  }
  return values;
}

std::optional<ConstantTensor> numbers_of(const onnx::TensorProto& tensor,
                                         const std::string& folder) {
  ConstantTensor result{strata::dims_of(tensor), {}, !holds_floats(tensor)};
  const std::int64_t count = element_count(result.dims);
  const bool here = holds_floats(tensor) || tensor.data_location() != onnx::TensorProto::EXTERNAL;
  if (count > kMostEvaluated || !here || (count > 0 && !has_values(tensor))) return std::nullopt;
  if (holds_floats(tensor)) {
    result.values = any_values(tensor, folder);
  } else if (holds_integers(tensor)) {
    const std::vector<std::int64_t> values = integer_values(tensor);
    result.values.assign(values.begin(), values.end());
  } else if (tensor.data_type() == onnx::TensorProto::BOOL) {
    result.values = *small_integers<bool>(tensor);
  } else {
    return std::nullopt;
  }
  if (std::ssize(result.values) != count) return std::nullopt;
  return result;
}

}  // namespace

Constants::Constants(const onnx::GraphProto& graph, const OnnxShapes& shapes, std::string folder)
    : shapes_(shapes), folder_(std::move(folder)) {
  for (const auto& tensor : graph.initializer()) tensors_[tensor.name()] = &tensor;
  for (const auto& node : graph.node()) {
    if (!is_onnx_domain(node.domain()) || holds_graph(node)) continue;
    for (const auto& name : node.output()) writers_[name] = &node;
  }
}

std::shared_ptr<const ConstantTensor> Constants::find(const std::string& name) {
  auto found = find(name, 0);
  forget_large();
  return found;
}

// A mask of many tokens is seldom needed twice.
void Constants::forget_large() {
  constexpr std::size_t kLarge = 1 << 16;
  std::erase_if(known_, [&](const auto& entry) {
    const bool goes = entry.second && entry.second->values.size() > kLarge;
    if (goes) in_all_ -= std::ssize(entry.second->values);
    return goes;
  });
}

std::shared_ptr<const ConstantTensor> Constants::find(const std::string& name, int depth) {
  if (depth > kDeepestConstant || in_all_ > kMostInAll) return nullptr;
  if (const auto at = known_.find(name); at != known_.end()) return at->second;
  std::shared_ptr<const ConstantTensor> value;
  try {
    if (auto evaluated = evaluate(name, depth))
      value = std::make_shared<const ConstantTensor>(std::move(*evaluated));
  } catch (const InputError&) {
    value = nullptr;
  }
  if (value) in_all_ += std::ssize(value->values);
  known_[name] = value;
  return value;
}

std::optional<ConstantTensor> Constants::evaluate(const std::string& name, int depth) {
  if (const auto at = tensors_.find(name); at != tensors_.end())
    return numbers_of(*at->second, folder_);
  const auto dims = shapes_.dims.find(name);
  const auto integers = shapes_.integers.find(name);
  if (dims != shapes_.dims.end() && integers != shapes_.integers.end() &&
      element_count(dims->second) == std::ssize(integers->second)) {
    return ConstantTensor{dims->second, {integers->second.begin(), integers->second.end()}, true};
  }
  const auto writer = writers_.find(name);
  if (writer == writers_.end() || writer->second->output(0) != name) return std::nullopt;
  return evaluate(*writer->second, name, depth);
}

std::optional<ConstantTensor> Constants::evaluate(const onnx::NodeProto& node,
                                                  const std::string& name, int depth) {
  if (node.op_type() == "Constant") {
    const NodeAttributes attributes(node);
    if (const auto* tensor = attributes.tensor("value")) return numbers_of(*tensor, folder_);
    const auto plain = attributes.plain_constant();
    return plain ? numbers_of(*plain, folder_) : std::nullopt;
  }
  if (node.op_type() == "Shape") {
    const auto integers = shapes_.dims.find(node.input(0));
    if (integers == shapes_.dims.end() || node.attribute_size() > 0) return std::nullopt;
    const TensorDims& dims = integers->second;
    return ConstantTensor{{std::ssize(dims)}, {dims.begin(), dims.end()}, true};
  }
  std::vector<std::shared_ptr<const ConstantTensor>> found;
  std::vector<const ConstantTensor*> inputs;
  for (int i = 0; i < node.input_size(); ++i) {
    found.push_back(node.input(i).empty() ? nullptr : find(node.input(i), depth + 1));
    inputs.push_back(found.back().get());
    if (inputs.back() == nullptr && !node.input(i).empty() && i < data_inputs(node))
      return std::nullopt;
  }
  const auto dims = shapes_.dims.find(name);
  const TensorDims* known = dims == shapes_.dims.end() ? nullptr : &dims->second;
  if (known != nullptr && element_count(*known) > kMostEvaluated) return std::nullopt;
  return computed(node, inputs, known);
}

}  // namespace strata
