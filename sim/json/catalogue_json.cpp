#include "sim/json/catalogue_json.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/json/fields.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t macs_of_all(const Graph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) sum += macs(graph, LayerId(i));
  return sum;
}

Json described_layer_json(const Graph& graph, LayerId id) {
  const Layer& layer = graph[id];
  Json inputs = Json::array();
  for (LayerId input : layer.inputs) inputs.push_back(graph[input].name);
  Json json = {{"name", layer.name},
               {"op", name(layer.op)},
               {"inputs", std::move(inputs)},
               {"output", extents_json(layer.output)},
               {"parameters", layer.held().total()},
               {"macs", macs(graph, id)}};
  if (const auto* opaque = std::get_if<Opaque>(&layer.op)) json["kind"] = opaque->kind;
  if (layer.frozen) json["frozen"] = true;
  return json;
}

Json entries_json(const std::vector<FrameworkEntry>& entries) {
  Json json = Json::object();
  for (const FrameworkEntry& entry : entries) {
    json[entry.key] = {{"value", entry.value}, {"source", entry.source}};
    if (!entry.fp32.empty()) json[entry.key]["fp32"] = entry.fp32;
    if (entry.of_experts) json[entry.key]["networks"] = "experts";
  }
  return json;
}

}  // namespace

Json models_json() {
  Json json;
  for (const ZooEntry& entry : zoo()) {
    const Graph graph = build_zoo(entry.name, 1);
    json["models"].push_back({{"name", entry.name},
                              {"description", entry.description},
                              {"layers", graph.size()},
                              {"parameters", graph.parameters()},
                              {"active_parameters", graph.active_parameters()},
                              {"macs", macs_of_all(graph)}});
  }
  return json;
}

Json clusters_json() {
  Json json;
  for (const Preset& preset : presets()) {
    json["clusters"].push_back({{"name", preset.pattern},
                                {"example", preset.example},
                                {"description", preset.description}});
  }
  return json;
}

Json network_json(const Graph& graph) {
  Json json{{"model", graph.name()}};
  for (std::size_t i = 0; i < graph.size(); ++i) {
    json["layers"].push_back(described_layer_json(graph, LayerId(i)));
  }
  json["parameters"] = graph.parameters();
  json["active_parameters"] = graph.active_parameters();
  json["trained_parameters"] = graph.trained_parameters();
  json["macs"] = macs_of_all(graph);
  return json;
}

Json imported_cluster_json(const ImportedCluster& imported, const std::string& file) {
  const Cluster& cluster = imported.cluster;
  Json json = {{"name", cluster.name()},
               {"devices", Json::array()},
               {"switches", cluster.switches().size()},
               {"links", Json::array()},
               {"routes", cluster.fixed_routes().size()},
               {"notes", imported.notes}};
  for (const Device& device : cluster.devices()) {
    json["devices"].push_back(
        {{"name", device.name}, {"kind", device.kind}, {"host", device.host}});
  }
  for (const Link& link : cluster.links()) {
    json["links"].push_back({{"name", link.name},
                             {"from", cluster.vertex_name(link.from)},
                             {"to", cluster.vertex_name(link.to)},
                             {"bandwidth_bytes_per_second", link.bandwidth.value},
                             {"latency_seconds", link.latency.value},
                             {"kind", link.kind}});
  }
  if (!file.empty()) json["file"] = file;
  return json;
}

Json frameworks_json(std::span<const Framework> frameworks) {
  Json json;
  for (const Framework& framework : frameworks) {
    json["frameworks"].push_back({{"name", framework.name},
                                  {"description", framework.description},
                                  {"settings", entries_json(framework.settings)},
                                  {"set", entries_json(framework.what_ifs)}});
  }
  return json;
}

}  // namespace strata
