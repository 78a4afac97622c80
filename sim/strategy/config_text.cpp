#include "sim/strategy/config_text.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace strata {
namespace {

template <class NameOf>
std::string text_of(const Degrees& degrees, const NameOf& name_of) {
  std::string text;
  for (const Dim dim : kDims) {
    if (degrees[dim] == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name_of(dim), degrees[dim]);
  }
  if (degrees.r > 1) {
    text += fmt::format("{}r={} scatter={}", text.empty() ? "" : " ", degrees.r,
                        name_of(degrees.scatter));
  }
  return text.empty() ? "one device" : text;
}

bool is_consecutive(std::span<const DeviceId> devices) {
  return std::adjacent_find(devices.begin(), devices.end(),
                            [](DeviceId a, DeviceId b) { return b() != a() + 1; }) == devices.end();
}

// Which devices, where they are not the first of the cluster in their order.
std::string placed_text(const Config& config) {
  std::vector<DeviceId> sorted(config.devices.begin(), config.devices.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || !is_consecutive(sorted)) return ", placed";
  const std::string_view placed = is_consecutive(config.devices) ? "" : ", placed";
  const std::size_t first = sorted.front()(), last = sorted.back()();
  if (first == 0) return std::string(placed);
  if (first == last) return fmt::format(", device {}", first);
  return fmt::format("{}, devices {} to {}", placed, first, last);
}

bool begins_sequence(const Layer& layer) {
  return std::holds_alternative<Embedding>(layer.op) || std::holds_alternative<Tokens>(layer.op) ||
         std::holds_alternative<Attention>(layer.op);
}

bool has_experts(const Layer& layer) {
  return std::holds_alternative<Router>(layer.op);
}

std::string_view parts_of(Dim dim) {
  switch (dim) {
    case Dim::n:
      return "samples";
    case Dim::c:
      return "channels";
    case Dim::d:
      return "planes";
    case Dim::h:
      return "rows";
    case Dim::w:
      return "columns";
  }
  return "";
}

}  // namespace

std::string config_text(const Degrees& degrees) {
  return text_of(degrees, [](Dim dim) { return name(dim); });
}

std::string config_text(const Config& config) {
  return fmt::format("{}{}", config_text(config.degrees), placed_text(config));
}

DimWords dim_words(const Graph& graph, LayerId layer, Dim dim) {
  const Layer& it = graph[layer];
  if (dim == Dim::c && std::holds_alternative<Attention>(it.op)) return {"heads", "heads"};
  const bool line = it.output[Dim::d] == 1 && it.output[Dim::h] == 1;
  if (dim == Dim::w && line && std::ranges::any_of(graph.layers(), begins_sequence)) {
    return {"tokens", "tokens"};
  }
  if (dim == Dim::d && std::ranges::any_of(graph.layers(), has_experts)) {
    return {"experts", "experts"};
  }
  return {name(dim), parts_of(dim)};
}

DimWords dim_words(const Graph& graph, std::span<const LayerId> layers, Dim dim) {
  std::vector<std::pair<DimWords, std::size_t>> counts;
  for (const LayerId layer : layers) {
    const DimWords words = dim_words(graph, layer, dim);
    const auto known =
        std::ranges::find(counts, words.name, [](const auto& count) { return count.first.name; });
    if (known == counts.end()) {
      counts.emplace_back(words, 1);
    } else {
      ++known->second;
    }
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return most == counts.end() ? DimWords{name(dim), parts_of(dim)} : most->first;
}

std::string config_text(const Graph& graph, std::span<const LayerId> layers,
                        const Degrees& degrees) {
  return text_of(degrees, [&](Dim dim) { return dim_words(graph, layers, dim).name; });
}

std::string config_text(const Graph& graph, std::span<const LayerId> layers, const Config& config) {
  return fmt::format("{}{}", config_text(graph, layers, config.degrees), placed_text(config));
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
