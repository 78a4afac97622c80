#include "sim/importers/onnx/graph_inputs.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/importers/onnx/names.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

using NameSet = std::set<std::string>;
using Shape = onnx::TensorShapeProto;

constexpr std::array<std::string_view, 8> kWithParameters = {
    "Conv",   "ConvTranspose",         "Gemm",  "BatchNormalization",
    "MatMul", "InstanceNormalization", "PRelu", "LayerNormalization"};

// Whether a node takes its input `i` as a parameter.
bool is_parameter(const onnx::NodeProto& node, int i) {
  return i > 0 && std::find(kWithParameters.begin(), kWithParameters.end(), node.op_type()) !=
                      kWithParameters.end();
}

bool passes_on(const onnx::NodeProto& node) {
  if (node.output_size() != 1) return false;
  return node.op_type() == "Identity" || node.op_type() == "Transpose" || node.op_type() == "Cast";
}

NameSet outputs_of(const onnx::GraphProto& graph) {
  NameSet names;
  for (const auto& output : graph.output()) names.insert(output.name());
  return names;
}

// The values that the graph gives back or that some node reads as data.
NameSet read_as_data(const onnx::GraphProto& graph) {
  NameSet data = outputs_of(graph);
  for (int n = graph.node_size() - 1; n >= 0; --n) {
    const onnx::NodeProto& node = graph.node(n);
    if (passes_on(node) && !data.contains(node.output(0))) continue;
    for (int i = 0; i < node.input_size(); ++i) {
      if (!is_parameter(node, i)) data.insert(node.input(i));
    }
  }
  return data;
}

NameSet read_at_all(const onnx::GraphProto& graph) {
  NameSet read = outputs_of(graph);
  for (const auto& node : graph.node()) read.insert(node.input().begin(), node.input().end());
  return read;
}

void check_rank(int rank) {
  if (rank >= 2 && rank <= 5) return;
  throw InputError(
      fmt::format("it has {} dim{}; allowed: (n, c), (n, c, w), (n, c, h, w), (n, c, d, h, w)",
                  rank, rank == 1 ? "" : "s"));
}

void check_dim(const Shape::Dimension& dim, int i) {
  if (!dim.has_dim_value()) {
    throw InputError(
        fmt::format("its dim {} has no number; allowed: numbers, but for the batch", i));
  }
  if (dim.dim_value() >= 1 && dim.dim_value() <= kMaxExtent) return;
  throw InputError(
      fmt::format("its dim {} is {}; allowed: 1 to {}", i, dim.dim_value(), kMaxExtent));
}

const Shape& shape_of(const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  if (input.type().has_tensor_type() && type.has_shape()) return type.shape();
  throw InputError("it does not say its shape");
}

// Some exporters write -1 or 0 for a batch that may be any.
void take_batch(const Shape::Dimension& dim, std::optional<std::int64_t>& batch) {
  const std::int64_t value = dim.has_dim_value() ? dim.dim_value() : 0;
  if (value <= 0) return;
  if (value > kMaxExtent)
    throw InputError(fmt::format("its batch is {}; allowed: at most {}", value, kMaxExtent));
  if (batch && *batch != value) {
    throw InputError(
        fmt::format("its batch is {}; allowed: {}, as the inputs before it", value, *batch));
  }
  batch = value;
}

bool is_named(const Shape::Dimension& dim) {
  return dim.has_dim_param() && !dim.dim_param().empty();
}

void check_closed(const Shape& shape, int first) {
  std::vector<std::string> names;
  for (int i = first; i < shape.dim_size(); ++i) {
    if (is_named(shape.dim(i))) names.push_back(shown(shape.dim(i).dim_param()));
  }
  if (names.empty()) return;
  throw InputError(fmt::format(
      "its dim{} '{}' {} open; allowed: numbers, but for the batch; `dim` {}=N gives one",
      names.size() == 1 ? "" : "s", fmt::join(names, "', '"), names.size() == 1 ? "is" : "are",
      names.front()));
}

void check_input(const onnx::ValueInfoProto& input, bool is_data,
                 std::optional<std::int64_t>& batch) {
  const Shape& shape = shape_of(input);
  if (is_data) check_rank(shape.dim_size());
  const int first = is_data ? 1 : 0;
  check_closed(shape, first);
  for (int i = first; i < shape.dim_size(); ++i) check_dim(shape.dim(i), i);
  if (is_data) take_batch(shape.dim(0), batch);
}

/// The names of dims of inputs.
struct DimNames {
  NameSet open, batch;
};

DimNames dim_names(const onnx::GraphProto& graph) {
  const NameSet data = read_as_data(graph);
  DimNames names;
  for (const auto& input : graph.input()) {
    const auto& dims = input.type().tensor_type().shape().dim();
    for (int i = 0; i < dims.size(); ++i) {
      if (!is_named(dims[i])) continue;
      const bool batch = i == 0 && data.contains(input.name());
      (batch ? names.batch : names.open).insert(dims[i].dim_param());
    }
  }
  for (const std::string& name : names.batch) names.open.erase(name);
  return names;
}

void check_names(const OpenDims& dims, const DimNames& names, const std::string& file) {
  std::string allowed;
  for (const std::string& name : names.open) allowed += (allowed.empty() ? "" : ", ") + shown(name);
  for (const auto& [name, extent] : dims) {
    if (names.open.contains(name)) continue;
    if (names.batch.contains(name)) {
      fail({file, 0}, fmt::format("`dim` {}: it is the number of samples; allowed: `batch` {}",
                                  shown(name), extent));
    }
    fail({file, 0},
         allowed.empty()
             ? fmt::format("`dim` {}: its inputs have no open dim", shown(name))
             : fmt::format("`dim` {}: no input has such a dim; allowed: {}", shown(name), allowed));
  }
}

void close_dims(onnx::ValueInfoProto& value, const OpenDims& dims) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
  for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const auto given = dim.has_dim_param() ? dims.find(dim.dim_param()) : dims.end();
    if (given != dims.end()) dim.set_dim_value(given->second);
  }
}

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

void set_open_dims(onnx::GraphProto& graph, const OpenDims& dims, const std::string& file) {
  if (dims.empty()) return;
  check_names(dims, dim_names(graph), file);
  for (auto* values : {graph.mutable_input(), graph.mutable_value_info(), graph.mutable_output()}) {
    for (auto& value : *values) close_dims(value, dims);
  }
}

GraphInputs sort_inputs(const onnx::GraphProto& graph, const std::string& file) {
  const NameSet data = read_as_data(graph);
  NameSet read = read_at_all(graph);
  for (const auto& tensor : graph.initializer()) read.erase(tensor.name());
  GraphInputs inputs;
  Diagnostics wrong;
  for (const auto& input : graph.input()) {
    if (!read.contains(input.name())) continue;
    const bool is_data = data.contains(input.name());
    (is_data ? inputs.data : inputs.parameters).push_back(input.name());
    try {
      check_input(input, is_data, inputs.batch);
    } catch (const InputError& error) {
      wrong.add({file, 0}, fmt::format("input '{}': {}", shown(input.name()), error.message()));
    }
  }
  if (inputs.data.empty()) wrong.add({file, 0}, "its graph has no input of data");
  wrong.throw_if_any();
  return inputs;
}

std::int64_t symbolic_batch(const onnx::GraphProto& graph) {
  const std::set<std::int64_t> dims = dims_in(graph);
  std::int64_t batch = 7;
  while (!is_prime(batch) || dims.contains(batch)) ++batch;
  return batch;
}

}  // namespace strata
