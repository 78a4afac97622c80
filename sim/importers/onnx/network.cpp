#include "sim/importers/onnx/network.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/attributes.h"

namespace strata {
namespace {

std::string without_context(const std::string& message, const std::string& layer) {
  const std::string context = fmt::format("layer {}: ", layer);
  return message.starts_with(context) ? message.substr(context.size()) : message;
}

}  // namespace

OnnxNetwork::OnnxNetwork(const onnx::GraphProto& graph, OnnxShapes shapes, std::string name,
                         std::int64_t batch, const std::string& folder)
    : graph_(graph),
      shapes_(std::move(shapes)),
      evaluated_(graph_, shapes_, folder),
      builder_(std::move(name), batch) {
  choose_outputs();
  find_readers();
  define_tensors();
  define_inputs();
}

bool OnnxNetwork::is_classes(const std::string& name, std::size_t rank) const {
  const auto at = shapes_.dims.find(name);
  return at != shapes_.dims.end() && at->second.size() == rank && at->second[0] == shapes_.batch;
}

// Of several outputs the classifier's, which is written after those of heads for training alone.
void OnnxNetwork::choose_outputs() {
  for (const auto& output : graph_.output()) outputs_.insert(output.name());
  const bool seen = std::none_of(outputs_.begin(), outputs_.end(),
                                 [&](const auto& name) { return shapes_.unseen.contains(name); });
  if (outputs_.size() < 2 || !seen) return;
  for (const std::size_t rank : {2U, 3U}) {
    if (rank == 3 && !has_numbers_of_tokens()) return;
    const std::string* last = nullptr;
    for (const auto& node : graph_.node()) {
      for (const auto& name : node.output()) {
        if (is_output(name) && is_classes(name, rank)) last = &name;
      }
    }
    if (last == nullptr) continue;
    note(
        fmt::format("of its {} outputs '{}' alone is read, the last that is {}; what only others "
                    "need is left out",
                    outputs_.size(), shown(*last), rank == 2 ? "(n, c)" : "(n, w, c)"));
    outputs_ = {*last};
    return;
  }
}

bool OnnxNetwork::has_numbers_of_tokens() const {
  const auto& data = shapes_.inputs.data;
  return std::any_of(data.begin(), data.end(),
                     [&](const auto& name) { return are_numbers_of_tokens(name); });
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
    for (const auto& name : node.output()) writers_[name] = &node;
    for (int i = 0; i < data_inputs(node); ++i) {
      wanted.insert(node.input(i));
      readers_[node.input(i)].push_back(&node);
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
    if (!is_onnx_domain(node.domain()) || holds_graph(node)) continue;
    if (node.op_type() == "Constant") define_constant(node);
    if (node.op_type() == "Identity") define_copy(node);
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
  OnnxTensor value{node.output(0), dims_of(*tensor), tensor};
  value.constant = true;
  define(node.output(0), std::move(value));
}

void OnnxNetwork::define_copy(const onnx::NodeProto& node) {
  const OnnxTensor* tensor = this->tensor(node.input(0));
  if (tensor == nullptr) return;
  OnnxTensor copy = *tensor;
  copy.copied = true;
  define(node.output(0), std::move(copy));
}

bool OnnxNetwork::are_numbers_of_tokens(const std::string& name) const {
  const auto type = shapes_.elements.find(name);
  onnx::TensorProto tensor;
  if (type != shapes_.elements.end()) tensor.set_data_type(type->second);
  return shapes_.dims.at(name).size() == 2 && holds_integers(tensor);
}

// Data of three dims whose last one is multiplied with a constant or normalised.
bool OnnxNetwork::are_tokens(const std::string& name) const {
  const auto readers = readers_.find(name);
  if (shapes_.dims.at(name).size() != 3 || readers == readers_.end()) return false;
  return std::any_of(readers->second.begin(), readers->second.end(), [&](const auto* node) {
    const bool product = node->op_type() == "MatMul" && node->input(0) == name;
    const bool turned = node->op_type() == "Transpose" && NodeAttributes(*node).integers("perm") ==
                                                              std::vector<std::int64_t>{1, 0, 2};
    return product || turned || node->op_type() == "LayerNormalization" ||
           node->op_type() == "RMSNormalization";
  });
}

// Channels that come last in data, as TensorFlow has them, a Transpose brings to the front at once.
Axes OnnxNetwork::input_axes(const std::string& name, std::size_t rank) {
  Axes axes = usual_axes(rank);
  if (are_numbers_of_tokens(name)) return {Dim::n, Dim::w};
  if (are_tokens(name)) {
    note(fmt::format("input '{}' is tokens, (n, w, c)", shown(name)));
    return {Dim::n, Dim::w, Dim::c};
  }
  const onnx::NodeProto* reader = only_reader(name);
  if (rank < 3 || reader == nullptr || reader->op_type() != "Transpose") return axes;
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  if (NodeAttributes(*reader).integers("perm") != order) return axes;
  note(fmt::format("input '{}' has its channels last; here they come first", shown(name)));
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

void OnnxNetwork::define_inputs() {
  for (const auto& name : shapes_.inputs.data) {
    const TensorDims& dims = shapes_.dims.at(name);
    if (!readers_.contains(name) && !is_output(name)) continue;  // no output needs it
    const Axes axes = input_axes(name, dims.size());
    const LayerId id = add(layer_name(name), Input{sample_extents(dims, axes)}, {});
    define(name, OnnxActivation{id, axes, {}});
  }
}

const OnnxTensor* OnnxNetwork::tensor(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : std::get_if<OnnxTensor>(&at->second);
}

std::optional<double> OnnxNetwork::number(const std::string& name) const {
  const auto& computed = shapes_.numbers;
  if (const auto at = computed.find(name); at != computed.end()) return at->second;
  const OnnxTensor* tensor = this->tensor(name);
  const bool one = tensor && tensor->proto && element_count(tensor->dims) == 1 &&
                   holds_floats(*tensor->proto) && has_values(*tensor->proto) &&
                   tensor->proto->data_location() != onnx::TensorProto::EXTERNAL;
  return one ? std::optional(scalar_value(*tensor->proto)) : std::nullopt;
}

void OnnxNetwork::define(const std::string& name, OnnxValue value) {
  values_.insert_or_assign(name, std::move(value));
}

LayerId OnnxNetwork::add(const std::string& said, Op op, std::vector<LayerId> inputs) {
  const std::string wanted = said.empty() ? std::string(strata::name(op)) : said;
  const std::string name = names_.take(wanted);
  try {
    const LayerId id = builder_.add(name, op, std::move(inputs));
    ops_.push_back(std::move(op));
    layer_names_.push_back(name);
    return id;
  } catch (const InputError& error) {
    names_.give_back(wanted, name);
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

const onnx::NodeProto* OnnxNetwork::writer(const std::string& name) const {
  const auto at = writers_.find(name);
  const bool known =
      at != writers_.end() && is_onnx_domain(at->second->domain()) && !holds_graph(*at->second);
  return known ? at->second : nullptr;
}

std::vector<const onnx::NodeProto*> OnnxNetwork::readers(const std::string& name) const {
  const auto at = readers_.find(name);
  return at == readers_.end() ? std::vector<const onnx::NodeProto*>{} : at->second;
}

std::size_t OnnxNetwork::reader_count(const std::string& name) const {
  const auto at = readers_.find(name);
  return at == readers_.end() ? 0 : at->second.size();
}

void OnnxNetwork::absorb(const onnx::NodeProto& node, const onnx::NodeProto& by) {
  absorbed_[&node] = &by;
  for (const auto& name : node.output()) define(name, OnnxFailed{});
}

void OnnxNetwork::release(const onnx::NodeProto& by) {
  const auto is_by = [&](const auto& entry) { return entry.second == &by; };
  std::erase_if(absorbed_, is_by);
  std::erase_if(biases_, is_by);
}

std::vector<std::string> OnnxNetwork::notes() const {
  std::vector<std::string> lines;
  for (const auto& [text, count] : notes_) {
    lines.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  }
  return lines;
}

}  // namespace strata
