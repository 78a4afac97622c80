#include "sim/formats/onnx/network.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/formats/onnx/attributes.h"

namespace strata {
namespace {

Extents sample_extents(const TensorDims& dims) {
  Extents extents = {{1, 1, 1, 1, 1}};
  const Axes axes = usual_axes(dims.size());
  for (std::size_t i = 1; i < dims.size(); ++i) extents[*axes[i]] = dims[i];
  return extents;
}

std::string without_context(const std::string& message, const std::string& layer) {
  const std::string context = fmt::format("layer {}: ", layer);
  return message.starts_with(context) ? message.substr(context.size()) : message;
}

}  // namespace

OnnxNetwork::OnnxNetwork(const onnx::GraphProto& graph, OnnxShapes shapes, std::string name,
                         std::int64_t batch)
    : graph_(graph), shapes_(std::move(shapes)), builder_(std::move(name), batch) {
  for (const auto& output : graph_.output()) outputs_.insert(output.name());
  find_readers();
  define_tensors();
  define_inputs();
}

// From the last node to the first, as the order of the nodes allows.
void OnnxNetwork::find_readers() {
  std::set<std::string, std::less<>> wanted = outputs_;
  live_.resize(static_cast<std::size_t>(graph_.node_size()));
  for (int n = graph_.node_size() - 1; n >= 0; --n) {
    const onnx::NodeProto& node = graph_.node(n);
    const bool live = std::any_of(node.output().begin(), node.output().end(),
                                  [&](const auto& name) { return wanted.contains(name); });
    live_[static_cast<std::size_t>(n)] = live;
    if (!live) continue;
    for (const auto& name : node.input()) {
      wanted.insert(name);
      readers_[name].push_back(&node);
    }
  }
}

void OnnxNetwork::define_tensors() {
  for (const auto& tensor : graph_.initializer()) {
    define(tensor.name(), OnnxTensor{tensor.name(), dims_of(tensor), &tensor});
  }
  for (const auto& name : shapes_.inputs.parameters) {
    define(name, OnnxTensor{name, shapes_.dims.at(name)});
  }
  for (const auto& node : graph_.node()) {  // some stand after the pattern that they belong to
    if (node.op_type() == "Constant") define_constant(node);
  }
}

void OnnxNetwork::define_constant(const onnx::NodeProto& node) {
  const NodeAttributes attributes(node);
  const onnx::TensorProto* tensor = attributes.tensor("value");
  if (!tensor) {
    const auto constant = attributes.plain_constant();
    if (!constant) return;
    tensor = &constants_.emplace_back(*constant);
  }
  define(node.output(0), OnnxTensor{node.output(0), dims_of(*tensor), tensor});
}

void OnnxNetwork::define_inputs() {
  for (const auto& name : shapes_.inputs.data) {
    const TensorDims& dims = shapes_.dims.at(name);
    if (!readers_.contains(name) && !is_output(name)) continue;  // no output needs it
    const LayerId id = add(layer_name(name), Input{sample_extents(dims)}, {});
    define(name, OnnxActivation{id, usual_axes(dims.size()), {}});
  }
}

const OnnxTensor* OnnxNetwork::tensor(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : std::get_if<OnnxTensor>(&at->second);
}

void OnnxNetwork::define(const std::string& name, OnnxValue value) {
  values_.insert_or_assign(name, std::move(value));
}

LayerId OnnxNetwork::add(const std::string& wanted, Op op, std::vector<LayerId> inputs) {
  const std::string name = names_.take(wanted.empty() ? std::string(strata::name(op)) : wanted);
  try {
    const LayerId id = builder_.add(name, op, std::move(inputs));
    ops_.push_back(std::move(op));
    return id;
  } catch (const InputError& error) {
    throw InputError(without_context(error.message(), name));
  }
}

void OnnxNetwork::set_parameters(LayerId id, OnnxParameters parameters) {
  parameters_.emplace(id, std::move(parameters));
}

const onnx::NodeProto* OnnxNetwork::only_reader(const std::string& name) const {
  const auto at = readers_.find(name);
  const bool only = at != readers_.end() && at->second.size() == 1 && !is_output(name);
  return only ? at->second.front() : nullptr;
}

std::size_t OnnxNetwork::reader_count(const std::string& name) const {
  const auto at = readers_.find(name);
  return at == readers_.end() ? 0 : at->second.size();
}

void OnnxNetwork::absorb(const onnx::NodeProto& node) {
  absorbed_.insert(&node);
  for (const auto& name : node.output()) define(name, OnnxFailed{});
}

std::vector<std::string> OnnxNetwork::notes() const {
  std::vector<std::string> lines;
  for (const auto& [text, count] : notes_) {
    lines.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  }
  return lines;
}

}  // namespace strata
