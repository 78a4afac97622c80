#include "sim/search/outsiders.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/rounds.h"
#include "sim/graph/regions.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

bool is_power_of_two(int number) {
  return (number & (number - 1)) == 0;
}

}  // namespace

bool of_tokens(const Graph& graph) {
  const auto layers = graph.layers();
  return std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
    return std::holds_alternative<Attention>(layer.op);
  });
}

std::vector<Strategy> hybrids(const Case& input) {
  const bool tokens = of_tokens(input.graph);
  const int devices = static_cast<int>(input.cluster.device_count());
  std::vector<Strategy> found;
  for (int shared = 2; tokens && shared <= devices; shared *= 2) {
    try {
      found.push_back(
          hybrid_parallel(input.graph, devices, fmt::format("hybrid:tp={},sp=1", shared)));
    } catch (const InputError&) {  // it does not divide
    }
  }
  return found;
}

std::vector<Strategy> pipelines(const Case& input, Recompute recompute) {
  const int devices = static_cast<int>(input.cluster.device_count());
  const Segments again = segments(input.graph, recompute, kernels_of(input));
  const bool tokens = of_tokens(input.graph);
  std::vector<Strategy> found;
  for (int tensor = 1; tensor <= (tokens ? devices : 1); tensor *= 2) {
    for (int stages = again.empty() ? 2 : 1; tensor * stages <= devices; ++stages) {
      if (devices % (tensor * stages) != 0 && !is_power_of_two(stages)) continue;
      const std::string name =
          fmt::format("hybrid:tp={}{}{}", tensor, tensor > 1 ? ",sp=1" : "",
                      stages > 1 ? fmt::format(",pp={}", stages) : std::string());
      try {
        Strategy strategy = hybrid_parallel(input.graph, devices, name);
        if (!again.empty()) {
          strategy = strategy.with(again).called(fmt::format(
              "{} recompute={}", tensor * stages == 1 ? "data" : name, strata::name(recompute)));
        }
        found.push_back(std::move(strategy));
      } catch (const InputError&) {  // it does not divide
      }
    }
  }
  return with_rounds(input, std::move(found));
}

bool is_by_rule(const Strategy& strategy) {
  const auto configs = strategy.configs();
  return !strategy.segments().empty() ||
         std::any_of(configs.begin(), configs.end(), [](const Config& config) {
           return std::find(config.devices.begin(), config.devices.end(), DeviceId(0u)) ==
                  config.devices.end();
         });
}

std::vector<Strategy> with_rounds(const Case& input, std::vector<Strategy> strategies) {
  std::erase_if(strategies, [&](const Strategy& strategy) {
    return !divide_in_rounds(input, data_parallel_groups(input.graph, strategy));
  });
  return strategies;
}

SearchSpace with_rounds(const Case& input, const SearchSpace& space) {
  if (!input.cut) return space;
  std::vector<std::vector<std::uint32_t>> kept(space.size());
  for (std::size_t v = 0; v < space.size(); ++v) {
    const Cuts& cuts = *space[v].cuts;
    std::vector<std::uint32_t> all(cuts.size());
    std::iota(all.begin(), all.end(), 0u);
    std::ranges::copy_if(all, std::back_inserter(kept[v]), [&](std::uint32_t choice) {
      return std::ranges::all_of(space[v].layers, [&](LayerId layer) {
        return divide_in_rounds(input, space.cut_of(layer, cuts[choice]).degrees[Dim::n]);
      });
    });
    if (kept[v].empty()) kept[v] = std::move(all);
  }
  return space.restricted(kept);
}

bool parameters_fit(const Case& input, const Strategy& strategy, std::optional<Bytes> limit) {
  std::vector<Bytes> held(input.cluster.device_count());
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const Layer& layer = input.graph[LayerId(i)];
    if (layer.weight_of.valid() || layer.parameters.total() == 0) continue;
    const Config& config = strategy[LayerId(i)];
    const Partition parts = partition(layer, config.degrees);
    for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
      const Tile tile = parts.tile(static_cast<std::int64_t>(shard));
      held[config.devices[shard]()] +=
          held_bytes(layer, shard_parameters(layer, tile).total(), input.dtypes.parameters);
    }
  }
  for (std::size_t d = 0; d < held.size(); ++d) {
    if (held[d] > limit.value_or(memory_capacity(input, DeviceId(d)))) return false;
  }
  return true;
}

}  // namespace strata
