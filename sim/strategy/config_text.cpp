#include "sim/strategy/config_text.h"

#include <fmt/format.h>

namespace strata {

std::string config_text(const Degrees& degrees) {
  std::string text;
  for (Dim dim : kDims) {
    if (degrees[dim] == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name(dim), degrees[dim]);
  }
  if (degrees.r > 1) {
    text +=
        fmt::format("{}r={} scatter={}", text.empty() ? "" : " ", degrees.r, name(degrees.scatter));
  }
  return text.empty() ? "one device" : text;
}

std::string config_text(const Config& config) {
  const bool usual = config == config_on_first_devices(config.degrees);
  return config_text(config.degrees) + (usual ? "" : ", placed");
}

std::vector<EqualCuts> equal_cuts(const Graph& graph, const Strategy& strategy) {
  std::vector<EqualCuts> runs;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId id(i);
    if (is_input(graph[id].op)) continue;
    if (runs.empty() || strategy[runs.back().last] != strategy[id]) runs.push_back({id, id});
    runs.back().last = id;
  }
  return runs;
}

std::string layers_text(const Graph& graph, const EqualCuts& run) {
  const std::string &first = graph[run.first].name, &last = graph[run.last].name;
  return first == last ? first : fmt::format("{} .. {}", first, last);
}

}  // namespace strata
