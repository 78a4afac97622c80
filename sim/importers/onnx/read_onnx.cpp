#include "sim/importers/onnx/read_onnx.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/functions.h"
#include "sim/importers/onnx/graph_inputs.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/parameters.h"
#include "sim/importers/onnx/soundness.h"
#include "sim/importers/onnx/unknown_ops.h"
#include "sim/importers/onnx/views.h"
#include "sim/text/diagnostics.h"
#include "sim/text/file.h"

namespace strata {
namespace {

std::string network_name(const std::string& file) {
  const std::string name = layer_name(std::filesystem::path(file).stem().string());
  return name.empty() ? "network" : name;
}

std::string folder_of(const std::string& file) {
  return std::filesystem::path(file).parent_path().string();
}

void check_parsed(bool parsed, const std::string& file) {
  if (!parsed) fail({file, 0}, "it is no ONNX file, or ends too early; allowed: ONNX's protobuf");
}

// Walks the nodes; every one that fails is told, and what reads it is not blamed.
class Reading {
 public:
  Reading(const onnx::ModelProto& model, const std::string& file, std::int64_t batch,
          OnnxUnsupported unsupported)
      : model_(model),
        file_(file),
        opset_(opset_of(model, file)),
        takes_all_(unsupported == OnnxUnsupported::opaque),
        network_(model.graph(), infer_shapes(model, file), network_name(file), batch,
                 folder_of(file)) {}

  OnnxModel read(OnnxWeights weights) {
    check_ops(network_, opset_, takes_all_, file_);
    for (int n = 0; n < model_.graph().node_size(); ++n) {
      if (network_.is_live(n)) read_node(n);
    }
    wrong_.throw_if_any();
    add_loss();
    note_missing();
    note_sharing();
    OnnxModel result{.graph = {}, .weights = {}, .notes = network_.notes()};
    if (weights == OnnxWeights::read) {
      result.weights = read_parameters(network_, file_);
    } else {
      result.weights.resize(network_.size());
    }
    result.graph = std::move(network_).build();
    return result;
  }

 private:
  void read_node(int number) {
    const onnx::NodeProto& proto = model_.graph().node(number);
    if (network_.is_absorbed(proto)) return;
    if (network_.tensor(proto.output(0))) return;  // a Constant, or an Identity of a tensor
    for (const auto& name : proto.output()) network_.define(name, OnnxFailed{});
    if (reads_failed(proto)) return;
    OnnxNode node(network_, proto, number, opset_);
    try {
      if (reads_constants_alone(proto)) return write_shapes(proto);
      takes_all_ ? read_any(node) : read_known(node);
    } catch (const InputError& error) {
      wrong_.add({file_, 0}, fmt::format("{}: {}", shown(proto, number), error.message()));
    }
  }

  // Dropout's mask, a maximum's place, running means: not ours.
  void read_known(OnnxNode& node) const {
    if (!read_tokens(node)) find_node_reader(node.proto())(node);
    for (int i = 1; i < node.proto().output_size(); ++i) {
      if (!node.is_used(i) || !is_failed(node.proto().output(i))) continue;
      throw InputError(fmt::format("its output {} '{}' is used; allowed: the first alone", i,
                                   shown(node.proto().output(i))));
    }
  }

  // What a reader refuses is opaque; what it made a layer of already contradicts the file.
  void read_any(OnnxNode& node) {
    const std::size_t before = network_.size();
    try {
      if (read_tokens(node)) return;
      const NodeReader reader = find_node_reader(node.proto());
      if (reader) reader(node);
      read_opaque(node, reader ? 1 : 0);
    } catch (const InputError&) {
      if (network_.size() != before) throw;
      network_.release(node.proto());
      read_opaque(node, 0);
    }
  }

  bool is_failed(const std::string& name) const {
    return std::holds_alternative<OnnxFailed>(network_.value(name));
  }

  template <class Test>
  static bool any_input(const onnx::NodeProto& node, const Test& test) {
    return std::any_of(node.input().begin(), node.input().begin() + data_inputs(node),
                       [&](const std::string& name) { return !name.empty() && test(name); });
  }

  bool reads_failed(const onnx::NodeProto& node) const {
    return any_input(node, [&](const std::string& name) { return is_failed(name); });
  }

  // What computes on constants and shapes alone inference has computed, where it matters.
  bool reads_constants_alone(const onnx::NodeProto& node) const {
    const NodeReader reader = find_node_reader(node);
    if (reader == read_shape_part && node.op_type() == "Constant") return false;
    const bool passes_on = reader == read_alias || reader == read_transpose;
    if (passes_on && node.input_size() > 0 && network_.tensor(node.input(0))) return false;
    return !any_input(node, [&](const std::string& name) { return is_data(network_.value(name)); });
  }

  void write_shapes(const onnx::NodeProto& node) {
    for (const auto& name : node.output()) network_.define(name, OnnxShape{});
  }

  const OnnxActivation& output(const std::string& name) {
    if (is_data(network_.value(name)))
      network_.define(name, made(network_, network_.value(name), name));
    if (const auto* value = std::get_if<OnnxActivation>(&network_.value(name))) {
      if (value->zeros == PerDim<Margin>{}) return *value;
      fail({file_, 0}, fmt::format("output '{}': a Pad stands before it; allowed: before a "
                                   "convolution or a pooling",
                                   shown(name)));
    }
    fail({file_, 0}, fmt::format("output '{}' does not depend on the data", shown(name)));
  }

  // As the networks of the zoo end.
  void add_loss() {
    const auto& outputs = network_.outputs();
    for (const auto& name : outputs) output(name);
    const OnnxActivation& end = output(*outputs.begin());
    const Extents& extents = network_.output(end.layer);
    const bool tokens = end.axes == Axes{Dim::n, Dim::w, Dim::c};
    const bool classes = outputs.size() == 1 && extents[Dim::c] > 1 &&
                         ((end.axes.size() == 2 && is_usual(end.axes, extents)) || tokens);
    if (!classes) {
      return network_.note(
          "no loss was added: that takes an output of (n, c), or (n, w, c) of tokens, with several "
          "classes; every end of the network is taken to receive a gradient");
    }
    network_.add("loss", SoftmaxCrossEntropy{}, {end.layer});
  }

  void note_missing() {
    const auto& all = network_.parameters();
    const auto missing = std::count_if(all.begin(), all.end(),
                                       [](const auto& layer) { return !has_values(layer.second); });
    if (missing == 0) return;
    network_.note(fmt::format("the file has no values for the parameters of {} of {} layers",
                              missing, all.size()));
  }

  void note_sharing() {
    const std::size_t sharing = count_sharing(network_);
    if (sharing == 0) return;
    network_.note(fmt::format(
        "{} layers share parameters; here each has its own, which are trained apart", sharing));
  }

  const onnx::ModelProto& model_;
  const std::string& file_;
  int opset_;
  bool takes_all_;
  OnnxNetwork network_;
  Diagnostics wrong_;
};

OnnxModel convert(onnx::ModelProto model, const std::string& file, std::int64_t batch,
                  OnnxWeights weights, OnnxUnsupported unsupported, const OpenDims& dims) {
  inline_functions(model, file);
  if (model.has_graph()) set_open_dims(*model.mutable_graph(), dims, file);
  if (model.has_graph()) take_integers(*model.mutable_graph(), folder_of(file), kMostEvaluated);
  check_sound(model, file);
  return Reading(model, file, batch, unsupported).read(weights);
}

}  // namespace

bool reads_onnx() {
  return true;
}

OnnxModel parse_onnx(std::string_view bytes, const std::string& file, std::int64_t batch,
                     OnnxWeights weights, OnnxUnsupported unsupported, const OpenDims& dims) {
  onnx::ModelProto model;
  check_parsed(
      bytes.size() <= INT_MAX && model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
      file);
  return convert(std::move(model), file, batch, weights, unsupported, dims);
}

OnnxModel read_onnx(const std::string& file, std::int64_t batch, OnnxWeights weights,
                    OnnxUnsupported unsupported, const OpenDims& dims) {
  onnx::ModelProto model;
  {
    const std::string bytes = read_file(file, INT_MAX);  // gone before the values are read
    check_parsed(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())), file);
  }
  return convert(std::move(model), file, batch, weights, unsupported, dims);
}

}  // namespace strata
