#include "sim/strategy/shared_weight.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/regions.h"
#include "sim/strategy/config_text.h"

namespace strata {
namespace {

// How far apart in devices two neighbours of the owner's work lie along the dim.
std::int32_t tile_stride(const Cut& cut, Dim dim) {
  return cut.strides[dim] * (cut.degrees.r > 1 && cut.degrees.scatter == dim ? cut.degrees.r : 1);
}

// What is channels to one are terms to the other.
Degrees swapped(const Degrees& of) {
  Degrees degrees{of};
  degrees[Dim::c] = of.r;
  degrees.r = of[Dim::c];
  degrees.scatter = Dim::n;
  return degrees;
}

bool fits(const Layer& layer, const Degrees& degrees) {
  for (Dim dim : kDims) {
    if (!may_cut(layer, dim, degrees[dim])) return false;
  }
  return degrees.r <= layer.reduction &&
         (degrees.r == 1 || may_scatter(layer, degrees)[degrees.scatter]);
}

}  // namespace

std::optional<Cut> cut_with_weight(const Layer& layer, const Cut& owner) {
  const Degrees& of = owner.degrees;
  Cut cut{swapped(of), owner.strides};
  for (Dim dim : kDims) cut.strides[dim] = tile_stride(owner, dim);
  if (of.r > 1) cut.strides[Dim::c] = owner.strides[of.scatter];
  if (cut.degrees.r == 1) return fits(layer, cut.degrees) ? std::optional(cut) : std::nullopt;
  const std::int32_t stride = tile_stride(owner, Dim::c);  // of neighbours in the terms
  for (Dim dim : {Dim::w, Dim::n, Dim::c}) {
    if (cut.degrees[dim] > 1 && cut.strides[dim] != stride * cut.degrees.r) continue;
    Cut scattered = cut;
    scattered.degrees.scatter = dim;
    scattered.strides[dim] = stride;
    if (fits(layer, scattered.degrees)) return scattered;
  }
  return std::nullopt;
}

std::optional<Config> config_with_weight(const Layer& layer, const Layer& owner,
                                         const Config& owner_config) {
  const Degrees& of = owner_config.degrees;
  Degrees degrees = swapped(of);
  const Dim scatters[] = {Dim::w, Dim::n, Dim::c};
  const auto scatter = std::find_if(std::begin(scatters), std::end(scatters), [&](Dim dim) {
    degrees.scatter = degrees.r > 1 ? dim : Dim::n;
    return fits(layer, degrees);
  });
  if (scatter == std::end(scatters)) return std::nullopt;
  const Partition shards = partition(layer, degrees), owned = partition(owner, of);
  std::vector<DeviceId> devices;
  devices.reserve(owner_config.devices.size());
  for (std::int64_t shard = 0; shard < shards.shard_count(); ++shard) {
    PerDim<std::int32_t> at = shards.coordinates(shard);
    std::int32_t terms = 0;
    if (degrees.r > 1) {
      terms = at[degrees.scatter] % degrees.r;
      at[degrees.scatter] /= degrees.r;
    }
    const std::int32_t channels = std::exchange(at[Dim::c], terms);
    if (of.r > 1) at[of.scatter] = at[of.scatter] * of.r + channels;
    devices.push_back(owner_config.devices[static_cast<std::size_t>(owned.shard_at(at))]);
  }
  return Config{degrees, std::move(devices)};
}

bool suits_sharing_layers(const Graph& graph, LayerId owner, const Config& config) {
  if (!traits(graph[owner].op).terms_lead) return true;
  return std::all_of(graph.layers().begin(), graph.layers().end(), [&](const Layer& layer) {
    return layer.weight_of != owner || config_with_weight(layer, graph[owner], config);
  });
}

namespace {

// Whether each device holds the same part of the weight under both.
bool holds_the_same(const Layer& layer, const Config& config, const Layer& owner,
                    const Config& owner_config) {
  if (config.devices.size() != owner_config.devices.size()) return false;
  const Partition shards = partition(layer, config.degrees);
  const Partition owned = partition(owner, owner_config.degrees);
  std::map<DeviceId, std::pair<Interval, Interval>> held;  // channels and terms of the owner's
  for (std::size_t i = 0; i < owner_config.devices.size(); ++i) {
    const Tile tile = owned.tile(static_cast<std::int64_t>(i));
    held[owner_config.devices[i]] = {tile[Dim::c], tile.terms};
  }
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    const Tile tile = shards.tile(static_cast<std::int64_t>(i));
    const auto at = held.find(config.devices[i]);
    if (at == held.end() || at->second != std::pair(tile.terms, tile[Dim::c])) return false;
  }
  return true;
}

}  // namespace

std::string wrong_with_weight(const Graph& graph, LayerId layer, std::span<const Config> configs) {
  const LayerId owner = graph[layer].weight_of;
  if (!owner.valid()) return {};
  const Config &own = configs[layer()], &of = configs[owner()];
  if (holds_the_same(graph[layer], own, graph[owner], of)) return {};
  const std::optional<Config> with = config_with_weight(graph[layer], graph[owner], of);
  return fmt::format("layer {}: {} does not hold the parts of the weight that {} has under {}{}",
                     graph[layer].name, config_text(own), graph[owner].name, config_text(of),
                     with ? "; allowed: " + config_text(*with) : ", whose cut it can't go with");
}

}  // namespace strata
