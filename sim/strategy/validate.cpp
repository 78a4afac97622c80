#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/regions.h"
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
  if (r < 1 || r > most_parts_of_sums(layer)) {
    wrong.push_back(fmt::format("layer {}: degree {} in r; allowed: 1 to {}, {}", layer.name, r,
                                most_parts_of_sums(layer), why_no_more_terms(layer)));
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
    if (!wrong.empty()) continue;
    if (auto text = wrong_with_weight(graph, id, strategy.configs()); !text.empty()) {
      wrong.push_back(std::move(text));
    }
  }
  return wrong;
}

}  // namespace strata
