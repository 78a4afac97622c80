#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"
#include "sim/strategy/shared_weight.h"
#include "sim/strategy/strategy.h"

namespace strata {
namespace {

Degrees cut_in(Dim dim, const Layer& layer, int devices) {
  Degrees degrees = kWhole;
  degrees[dim] = clipped(layer, dim, devices);
  return degrees;
}

// A layer without parameters works where its (first) producer left the data.
const Config* producer_config(const Graph& graph, const Layer& layer,
                              const std::vector<Config>& so_far) {
  if (layer.inputs.empty()) return nullptr;
  const LayerId producer = layer.inputs.front();
  if (is_input(graph[producer].op)) return nullptr;
  return &so_far[producer()];
}

// As its producer's output lies, where that fits.
Degrees clip(const Degrees& producer, const Layer& layer) {
  Degrees degrees = output_degrees(producer);
  for (Dim dim : kDims) degrees[dim] = clipped(layer, dim, degrees[dim]);
  return degrees;
}

bool follows_in_channels(const Layer& layer, const Config* producer) {
  const bool may = layer.parameters.total() == 0 && !is_opaque(layer.op);
  return may && producer != nullptr && producer->degrees[Dim::c] > 1;
}

// A strategy in the making, layer by layer, on the first devices.
class Baseline {
 public:
  Baseline(std::string name, const Graph& graph) : name_(std::move(name)), graph_(graph) {
    configs_.reserve(graph.size());
  }
  const std::vector<Config>& so_far() const { return configs_; }
  /// As goes with the weight that the layer shares; false where it has one of its own.
  bool add_with_weight(const Layer& layer) {
    if (!layer.weight_of.valid()) return false;
    const LayerId owner = layer.weight_of;
    const auto config = config_with_weight(layer, graph_[owner], configs_[owner()]);
    if (config) configs_.push_back(*config);
    return config.has_value();
  }
  void add(const Degrees& degrees) {
    configs_.push_back({degrees, first_(static_cast<std::size_t>(product(degrees)))});
  }
  Strategy strategy() { return {std::move(name_), std::move(configs_)}; }

 private:
  std::string name_;
  const Graph& graph_;
  std::vector<Config> configs_;
  FirstDevices first_;
};

}  // namespace

Config config_on_first_devices(const Degrees& degrees) {
  FirstDevices first;
  return {degrees, first(static_cast<std::size_t>(product(degrees)))};
}

std::optional<Dim> best_scatter(const Graph& graph, LayerId layer, const Degrees& degrees,
                                std::span<const Config> configs) {
  const PerDim<bool> may = may_scatter(graph[layer], degrees);
  const auto readers = graph.consumers(layer);
  std::optional<Dim> best;
  std::int32_t most = 0;
  for (Dim dim : kDims) {
    if (!may[dim]) continue;
    std::int32_t cut = 1;
    if (!readers.empty()) {
      const Degrees& reader = configs[readers.front()()].degrees;
      const std::vector<LayerId>& inputs = graph[readers.front()].inputs;
      const auto input = std::find(inputs.begin(), inputs.end(), layer) - inputs.begin();
      const AccessMap map = access_map(graph, readers.front(), static_cast<std::size_t>(input));
      cut = map.is_reduced(dim) ? reader.r : map.is_whole(dim) ? 1 : reader[dim];
    }
    if (cut > most) best = dim, most = cut;
  }
  return best;
}

Strategy data_parallel(const Graph& graph, int devices) {
  Baseline data("data", graph);
  for (const Layer& layer : graph.layers()) data.add(cut_in(Dim::n, layer, devices));
  return data.strategy();
}

Strategy model_parallel(const Graph& graph, int devices) {
  Baseline model("model", graph);
  for (const Layer& layer : graph.layers()) {
    if (model.add_with_weight(layer)) continue;
    const Config* producer = producer_config(graph, layer, model.so_far());
    const bool follows = layer.parameters.total() == 0 && producer != nullptr;
    Degrees degrees = follows ? clip(producer->degrees, layer) : cut_in(Dim::c, layer, devices);
    const LayerId id(model.so_far().size());
    while (!suits_sharing_layers(graph, id, config_on_first_devices(degrees))) --degrees[Dim::c];
    model.add(degrees);
  }
  return model.strategy();
}

Strategy owt_parallel(const Graph& graph, int devices) {
  Baseline owt("owt", graph);
  for (const Layer& layer : graph.layers()) {
    const Config* producer = producer_config(graph, layer, owt.so_far());
    Degrees degrees = cut_in(Dim::n, layer, devices);
    if (std::holds_alternative<FullyConnected>(layer.op)) {
      degrees = cut_in(Dim::c, layer, devices);
    } else if (follows_in_channels(layer, producer)) {
      degrees = clip(producer->degrees, layer);
    }
    owt.add(degrees);
  }
  return owt.strategy();
}

}  // namespace strata
