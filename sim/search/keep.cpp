#include "sim/search/keep.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/step/redistribution.h"
#include "sim/strategy/config_text.h"

namespace strata {
namespace {

std::string cut_in_two_ways(const Graph& graph, const KeptLayers& kept, LayerId a, LayerId b) {
  return fmt::format(
      "layer {}: is kept as {} and shares its cut with {}, kept as {}; allowed: one cut for both, "
      "or `free_elementwise`",
      graph[b].name, config_text(kept.strategy[b]), graph[a].name, config_text(kept.strategy[a]));
}

std::string placed_elsewhere(const Graph& graph, LayerId layer) {
  return fmt::format(
      "layer {}: cannot be kept: its shards lie on devices that a search puts none on; allowed: "
      "devices in the cluster's order",
      graph[layer].name);
}

std::string computed_in_copies(const Graph& graph, const KeptLayers& kept, LayerId layer) {
  return fmt::format(
      "layer {}: cannot be kept: {} computes it in copies, which no search considers; allowed: "
      "cuts "
      "of its output",
      graph[layer].name, config_text(kept.strategy[layer]));
}

}  // namespace

SearchSpace keep(const SearchSpace& space, const Case& input, const KeptLayers& kept) {
  SearchSpace result = space;
  std::map<std::uint32_t, LayerId> first;  // kept layer of a variable
  std::vector<std::string> wrong;
  for (const LayerId layer : kept.layers) {
    const auto variable = space.variable_of(layer);
    if (!variable) continue;
    if (has_copies(input.graph[layer], kept.strategy[layer])) {
      wrong.push_back(computed_in_copies(input.graph, kept, layer));
      continue;
    }
    const auto [before, is_first] = first.try_emplace(*variable, layer);
    const std::optional<Cut> cut = space.choice_for(layer, kept.strategy[layer]);
    if (!is_first) {
      if (cut && cut == space.choice_for(before->second, kept.strategy[before->second])) continue;
      wrong.push_back(cut_in_two_ways(input.graph, kept, before->second, layer));
      continue;
    }
    if (cut) result = result.fixed(*variable, *cut);
    if (!cut) wrong.push_back(placed_elsewhere(input.graph, layer));
  }
  if (!wrong.empty()) throw InputError(fmt::format("{}", fmt::join(wrong, "\n")));
  return result;
}

bool keeps(const Strategy& strategy, const KeptLayers& kept) {
  return std::all_of(kept.layers.begin(), kept.layers.end(),
                     [&](LayerId layer) { return strategy[layer] == kept.strategy[layer]; });
}

std::vector<LayerId> layers_named(const Graph& graph, std::span<const std::string> names) {
  std::vector<LayerId> layers;
  for (const std::string& name : names) {
    const LayerId layer = graph.find(name);
    if (!layer.valid()) {
      throw InputError(fmt::format(
          "`keep` {}: network {} has no such layer; allowed: the names that strata show {} prints",
          name, graph.name(), graph.name()));
    }
    if (is_input(graph[layer].op)) {
      throw InputError(fmt::format(
          "`keep` {}: the network's input, which nothing cuts; allowed: another layer", name));
    }
    layers.push_back(layer);
  }
  return layers;
}

}  // namespace strata
