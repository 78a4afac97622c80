#include "sim/json/export_json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "sim/json/fields.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json cut_json(const Case& input, const Strategy& strategy) {
  CaseResult result = result_of(input);
  result.strategy = strategy.name();
  return columns_json(result, {"model", "cluster", "strategy", "devices", "batch"});
}

Json layout_json(const Graph& graph, const DTensorLayout& layout) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < layout.layers.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    if (is_input(layer.op)) continue;
    layers.push_back({{"name", layer.name},
                      {"expressible", layout.layers[i].expressible},
                      {"limits", layout.layers[i].limits}});
  }
  return {{"mesh", layout.mesh}, {"layers", std::move(layers)}};
}

}  // namespace

Json network_export_json(const Graph& graph, const std::string& file) {
  return {{"model", graph.name()}, {"files", Json::array({file})}};
}

Json graph_export_json(const Case& input, const Strategy& strategy, const std::string& file) {
  Json json = cut_json(input, strategy);
  json["files"] = {file};
  return json;
}

Json trace_export_json(const Case& input, const Strategy& strategy, const Timeline& timeline,
                       std::size_t steps, std::span<const std::string> files) {
  Json json = cut_json(input, strategy);
  json["files"] = files;
  json["steps"] = steps;
  json["makespan_seconds"] = timeline.makespan().value;
  return json;
}

Json chakra_export_json(const Case& input, const Strategy& strategy, const Timeline& timeline,
                        std::size_t steps, const ChakraTraces& traces,
                        std::span<const std::string> files) {
  Json json = cut_json(input, strategy);
  json["files"] = files;
  json["steps"] = steps;
  json["nodes"] = traces.nodes;
  json["waits_left_out"] = traces.left_out;
  json["makespan_seconds"] = timeline.makespan().value;
  return json;
}

Json dtensor_export_json(const Case& input, const Strategy& strategy, const DTensorLayout& layout,
                         const std::string& file) {
  Json json = cut_json(input, strategy);
  json.update(layout_json(input.graph, layout));
  json["files"] = {file};
  return json;
}

}  // namespace strata
