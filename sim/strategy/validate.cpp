#include <algorithm>

#include <fmt/format.h>

#include "sim/graph/regions.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/shared_weight.h"
#include "sim/strategy/strategy.h"

namespace strata {
namespace {

void check_degrees(const Layer& layer, const Config& config, std::vector<std::string>& wrong) {
  const Extents most = most_parts(layer);
  for (Dim dim : kDims) {
    const std::int32_t degree = config.degrees[dim];
    if (may_cut(layer, dim, degree)) continue;
    wrong.push_back(fmt::format("layer {}: degree {} in {}; allowed: 1 to {}, {}", layer.name,
                                degree, name(dim), most[dim], why_no_more(layer, dim)));
  }
  const std::int32_t r = config.degrees.r;
  if (r < 1 || r > layer.reduction) {
    wrong.push_back(fmt::format("layer {}: degree {} in r; allowed: 1 to {}, {}", layer.name, r,
                                layer.reduction, why_no_more_terms(layer)));
  } else if (r > 1 && !may_scatter(layer, config.degrees)[config.degrees.scatter]) {
    wrong.push_back(fmt::format(
        "layer {}: its output can't be scattered along {}: degree {} and {} shards of "
        "each sum; allowed: up to {}, {}",
        layer.name, name(config.degrees.scatter), config.degrees[config.degrees.scatter], r,
        most[config.degrees.scatter], why_no_more(layer, config.degrees.scatter)));
  }
}

void check_devices(const Layer& layer, const Config& config, const Cluster& cluster,
                   std::vector<std::string>& wrong) {
  const std::int64_t shards = product(config.degrees);
  if (static_cast<std::int64_t>(config.devices.size()) != shards) {
    wrong.push_back(fmt::format("layer {}: {} devices for {} shards; allowed: one device a shard",
                                layer.name, config.devices.size(), shards));
  }
  std::vector<DeviceId> sorted(config.devices.begin(), config.devices.end());
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back()() >= cluster.device_count()) {
    wrong.push_back(fmt::format("layer {}: {} shards; cluster {} has {} devices", layer.name,
                                shards, cluster.name(), cluster.device_count()));
    return;
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    wrong.push_back(fmt::format("layer {}: device {} listed twice; allowed: each once", layer.name,
                                cluster[*twice].name));
  }
}

void check_shared_weight(const Graph& graph, LayerId layer, const Strategy& strategy,
                         std::vector<std::string>& wrong) {
  const LayerId owner = graph[layer].weight_of;
  if (!owner.valid() ||
      holds_the_same(graph[layer], strategy[layer], graph[owner], strategy[owner])) {
    return;
  }
  const std::optional<Config> with = config_with_weight(graph[layer], graph[owner], strategy[owner]);
  wrong.push_back(
      fmt::format("layer {}: {} does not hold the parts of the weight that {} has under {}{}",
                  graph[layer].name, config_text(strategy[layer]), graph[owner].name,
                  config_text(strategy[owner]),
                  with ? "; allowed: " + config_text(*with) : ", whose cut it can't go with"));
}

}  // namespace

std::vector<std::string> validate(const Strategy& strategy, const Graph& graph,
                                  const Cluster& cluster) {
  std::vector<std::string> wrong;
  if (strategy.size() != graph.size()) {
    wrong.push_back(fmt::format("strategy {} has {} layers, network {} has {}", strategy.name(),
                                strategy.size(), graph.name(), graph.size()));
    return wrong;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId id(i);
    const std::size_t before = wrong.size();
    check_degrees(graph[id], strategy[id], wrong);
    if (wrong.size() == before) check_devices(graph[id], strategy[id], cluster, wrong);
    if (wrong.empty()) check_shared_weight(graph, id, strategy, wrong);
  }
  return wrong;
}

}  // namespace strata
