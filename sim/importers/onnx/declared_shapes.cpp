#include "sim/importers/onnx/declared_shapes.h"

#include <algorithm>

namespace strata {
namespace {

// Some exporters write -1 or 0 for a dim that may be any.
bool is_open(const onnx::TensorShapeProto::Dimension& dim) {
  return dim.has_dim_value() && dim.dim_value() <= 0;
}

}  // namespace

std::optional<TensorDims> known_dims(const onnx::TensorShapeProto& shape) {
  TensorDims dims;
  for (const auto& dim : shape.dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

DeclaredShapes::DeclaredShapes(const onnx::GraphProto& graph, const GraphInputs& inputs,
                               std::int64_t batch)
    : batch_(batch) {
  add_batches(graph, inputs);
  for (const auto& value : graph.value_info()) types_[value.name()] = &value.type();
  for (const auto& value : graph.output()) types_[value.name()] = &value.type();
}

void DeclaredShapes::add_batches(const onnx::GraphProto& graph, const GraphInputs& inputs) {
  for (const auto& input : graph.input()) {
    const auto& data = inputs.data;
    if (std::find(data.begin(), data.end(), input.name()) == data.end()) continue;
    const auto& first = input.type().tensor_type().shape().dim(0);
    if (first.has_dim_param()) batch_names_.insert(first.dim_param());
    has_open_batch_ = has_open_batch_ || is_open(first);
  }
}

std::optional<onnx::TypeProto> DeclaredShapes::type(const std::string& value) const {
  const auto at = types_.find(value);
  if (at == types_.end() || !at->second->tensor_type().has_shape()) return std::nullopt;
  onnx::TypeProto type = *at->second;
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (auto& dim : *shape.mutable_dim()) {
    if (dim.has_dim_param() && batch_names_.contains(dim.dim_param())) dim.set_dim_value(batch_);
    if (!is_open(dim)) continue;
    const bool is_batch = has_open_batch_ && &dim == &shape.dim(0);
    is_batch ? dim.set_dim_value(batch_) : dim.clear_value();
  }
  return known_dims(shape) ? std::optional(std::move(type)) : std::nullopt;
}

}  // namespace strata
