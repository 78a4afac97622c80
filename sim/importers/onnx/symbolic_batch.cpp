#include "sim/importers/onnx/symbolic_batch.h"

#include <set>

namespace strata {
namespace {

void insert_dims(std::set<std::int64_t>& dims, const onnx::TensorProto& tensor) {
  dims.insert(tensor.dims().begin(), tensor.dims().end());
}

void insert_dims(std::set<std::int64_t>& dims, const onnx::ValueInfoProto& value) {
  for (const auto& dim : value.type().tensor_type().shape().dim()) dims.insert(dim.dim_value());
}

std::set<std::int64_t> dims_in(const onnx::GraphProto& graph) {
  std::set<std::int64_t> dims;
  for (const auto& tensor : graph.initializer()) insert_dims(dims, tensor);
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) insert_dims(dims, attribute.t());
  }
  for (const auto* values : {&graph.input(), &graph.value_info(), &graph.output()}) {
    for (const auto& value : *values) insert_dims(dims, value);
  }
  return dims;
}

bool is_prime(std::int64_t number) {
  std::int64_t factor = 2;
  while (factor * factor <= number && number % factor != 0) ++factor;
  return factor * factor > number;
}

}  // namespace

std::int64_t symbolic_batch(const onnx::GraphProto& graph) {
  const std::set<std::int64_t> dims = dims_in(graph);
  std::int64_t batch = 7;
  while (!is_prime(batch) || dims.contains(batch)) ++batch;
  return batch;
}

}  // namespace strata
