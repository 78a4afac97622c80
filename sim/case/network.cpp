#include "sim/case/network.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/finetuning.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"
#include "sim/importers/onnx/read_onnx.h"
#include "sim/text/units.h"

namespace strata {

namespace {

void refuse_dims(const std::string& model, const OpenDims& dims) {
  if (dims.empty()) return;
  throw InputError(fmt::format("`dim` {}: {} leaves no dim open, only .onnx files do; allowed: {}",
                               print_open_dims(dims), model,
                               is_model_file(model)
                                   ? "other shapes in the file"
                                   : "sizes behind a family's name, as gpt2:seq=256"));
}

Network read_network(const std::string& model, std::int64_t batch, FileWeights weights,
                     Unsupported unsupported, const OpenDims& dims) {
  if (!model.ends_with(".onnx")) {
    Graph graph = is_model_file(model) ? read_model(model, batch) : build_zoo(model, batch);
    refuse_dims(model, dims);
    return {std::move(graph), {}, {}};
  }
  const bool wanted = weights == FileWeights::read;
  const bool opaque = unsupported == Unsupported::opaque;
  OnnxModel file = read_onnx(model, batch, wanted ? OnnxWeights::read : OnnxWeights::skip,
                             opaque ? OnnxUnsupported::opaque : OnnxUnsupported::refuse, dims);
  return {std::move(file.graph), std::move(file.weights), std::move(file.notes)};
}

// Whether the network is sound for one sample, and has too many of them. What is wrong with it
// otherwise, its reader has said.
void check_batch(const std::string& model, std::int64_t batch, Unsupported unsupported,
                 const OpenDims& dims) {
  std::int64_t most = 0;
  try {
    most = read_network(model, 1, FileWeights::skip, unsupported, dims).graph.largest_batch();
  } catch (const InputError&) {
    return;
  }
  if (batch <= most) return;
  throw InputError(
      fmt::format("a batch of {} is too large for one step of {}; set `micro_batch`, or a batch of "
                  "up to {}",
                  format_count(batch), model, format_count(most)));
}

}  // namespace

Network load_network(const std::string& model, std::int64_t batch, FileWeights weights,
                     Unsupported unsupported, const OpenDims& dims) {
  try {
    return read_network(model, batch, weights, unsupported, dims);
  } catch (const InputError&) {
    if (batch > 1) check_batch(model, batch, unsupported, dims);
    throw;
  }
}

std::string network_name(const CaseRequest& request) {
  return request.seq ? with_tokens(request.model, *request.seq) : request.model;
}

Network load_network(const CaseRequest& request, std::int64_t batch, FileWeights weights) {
  return trained_as(
      load_network(network_name(request), batch, weights, request.unsupported, request.dims),
      request.training.train);
}

Network trained_as(Network network, const std::string& train) {
  const Finetuning how = parse_finetuning(train);
  if (how.trains_all()) return network;
  Graph graph = finetuned(network.graph, how);
  NetworkWeights weights;
  if (!network.weights.empty()) {
    weights.resize(graph.size());
    for (std::size_t i = 0; i < network.graph.size(); ++i) {
      const LayerId now = graph.find(network.graph[LayerId(i)].name);
      weights[now()] = std::move(network.weights[i]);
    }
  }
  return {std::move(graph), std::move(weights), std::move(network.notes)};
}

Graph load_model(const std::string& model, std::int64_t batch, Unsupported unsupported,
                 const OpenDims& dims) {
  return load_network(model, batch, FileWeights::skip, unsupported, dims).graph;
}

void check_runs(const Graph& graph) {
  for (const Layer& layer : graph.layers()) {
    const auto* opaque = std::get_if<Opaque>(&layer.op);
    if (opaque == nullptr) continue;
    throw InputError(
        fmt::format("network {}: layer {}: op {} is opaque, which nothing can run; allowed: to "
                    "predict and to solve",
                    graph.name(), layer.name, opaque->kind));
  }
  for (const Layer& layer : graph.layers()) {
    if (layer.format == WeightFormat::plain) continue;
    throw InputError(
        fmt::format("network {}: layer {} keeps its parameters in fewer bits, which runs do not; "
                    "allowed: to predict and to solve, or `train` without dtype",
                    graph.name(), layer.name));
  }
}

NetworkWeights starting_weights(const Network& network, std::uint64_t seed) {
  NetworkWeights weights = initial_weights(network.graph, seed);
  for (std::size_t i = 0; i < network.weights.size(); ++i) {
    if (!network.weights[i].empty()) weights[i] = network.weights[i];
  }
  return weights;
}

bool is_model_file(const std::string& model) {
  return model.ends_with(".toml") || model.ends_with(".onnx");
}

}  // namespace strata
