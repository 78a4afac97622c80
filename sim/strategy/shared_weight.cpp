#include "sim/strategy/shared_weight.h"

#include <algorithm>
#include <iterator>
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

// Whether what is channels to the owner are terms to the layer: to a product, of an embedding.
bool swaps_terms(const Layer& layer) {
  return layer.weight_of.valid() && std::holds_alternative<Linear>(layer.op);
}

// Whether others may have the layer's weight.
bool may_own(const Layer& layer) {
  return traits(layer.op).terms_lead || std::holds_alternative<Attention>(layer.op);
}

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
  return degrees.r <= most_parts_of_sums(layer) &&
         (degrees.r == 1 || may_scatter(layer, degrees)[degrees.scatter]);
}

}  // namespace

std::optional<Cut> cut_with_weight(const Layer& layer, const Cut& owner) {
  const Degrees& of = owner.degrees;
  if (!swaps_terms(layer)) return fits(layer, of) ? std::optional(owner) : std::nullopt;
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
  if (!swaps_terms(layer)) return fits(layer, of) ? std::optional(owner_config) : std::nullopt;
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
  if (!may_own(graph[owner])) return true;
  return std::all_of(graph.layers().begin(), graph.layers().end(), [&](const Layer& layer) {
    return layer.weight_of != owner || config_with_weight(layer, graph[owner], config);
  });
}

WeightPart weight_part(const Layer& layer, const Tile& shard) {
  return swaps_terms(layer) ? WeightPart{shard.terms, shard[Dim::c]}
                            : WeightPart{shard[Dim::c], shard.terms};
}

namespace {

std::vector<DeviceId> sorted_devices(const Config& config) {
  std::vector<DeviceId> sorted(config.devices.begin(), config.devices.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool have_common(const Config& a, const Config& b) {
  const std::vector<DeviceId> sorted = sorted_devices(a);
  return std::any_of(b.devices.begin(), b.devices.end(), [&](DeviceId device) {
    return std::binary_search(sorted.begin(), sorted.end(), device);
  });
}

// Sorted by device.
using HeldParts = std::vector<std::pair<DeviceId, WeightPart>>;

HeldParts held_parts(const Layer& layer, const Config& config) {
  const Partition shards = partition(layer, config.degrees);
  HeldParts held;
  held.reserve(config.devices.size());
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    held.emplace_back(config.devices[i],
                      weight_part(layer, shards.tile(static_cast<std::int64_t>(i))));
  }
  std::sort(held.begin(), held.end());
  return held;
}

std::vector<WeightPart> sorted_parts(const HeldParts& held) {
  std::vector<WeightPart> parts;
  parts.reserve(held.size());
  for (const auto& [device, part] : held) parts.push_back(part);
  std::sort(parts.begin(), parts.end());
  return parts;
}

bool on_same_devices(const HeldParts& a, const HeldParts& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

}  // namespace

LayerId weight_holder(const Graph& graph, LayerId layer, std::span<const Config> configs) {
  const LayerId owner = graph[layer].weight_of;
  if (!owner.valid()) return layer;
  for (LayerId before = owner; before < layer; before = LayerId(before() + 1)) {
    const bool shares = before == owner || graph[before].weight_of == owner;
    if (shares && have_common(configs[layer()], configs[before()])) return before;
  }
  return layer;
}

std::vector<LayerId> weight_copies(const Graph& graph, LayerId owner,
                                   std::span<const Config> configs) {
  std::vector<LayerId> copies;
  if (!may_own(graph[owner])) return copies;
  for (std::size_t i = owner() + 1; i < graph.size(); ++i) {
    const LayerId layer(i);
    if (graph[layer].weight_of == owner && weight_holder(graph, layer, configs) == layer) {
      copies.push_back(layer);
    }
  }
  return copies;
}

std::string wrong_with_weight(const Graph& graph, LayerId layer, std::span<const Config> configs) {
  const LayerId owner = graph[layer].weight_of;
  if (!owner.valid()) return {};
  const LayerId holder = weight_holder(graph, layer, configs);
  const LayerId beside = holder == layer ? owner : holder;
  const Config &own = configs[layer()], &of = configs[beside()];
  const HeldParts parts = held_parts(graph[layer], own), others = held_parts(graph[beside], of);
  const std::string& name = graph[layer].name;
  const bool has_parts = sorted_parts(parts) == sorted_parts(others);
  if (has_parts && holder == layer) {
    const bool sums = !graph[owner].frozen;  // what both add to the weight's gradient
    if (!sums || graph.needs_gradient(layer) == graph.needs_gradient(owner)) return {};
    return fmt::format(
        "layer {}: no loss depends on both it and {}, whose weight it shares; "
        "allowed: the same devices",
        name, graph[owner].name);
  }
  if (parts == others) return {};
  if (has_parts && !on_same_devices(parts, others)) {
    return fmt::format(
        "layer {}: some of its devices hold the weight of {}, others do not; allowed: all, or none",
        name, graph[owner].name);
  }
  const std::optional<Config> with =
      config_with_weight(graph[layer], graph[owner], configs[owner()]);
  return fmt::format("layer {}: {} does not hold the parts of the weight that {} has under {}{}",
                     name, config_text(own), graph[beside].name, config_text(of),
                     with ? "; allowed: " + config_text(*with) : ", whose cut it can't go with");
}

}  // namespace strata
