#include "sim/strategy/shared_weight.h"

#include <map>
#include <utility>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// How far apart in devices two neighbours of the owner's work lie along the dim.
std::int32_t tile_stride(const Cut& cut, Dim dim) {
  return cut.strides[dim] * (cut.degrees.r > 1 && cut.degrees.scatter == dim ? cut.degrees.r : 1);
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
  Cut cut{of, owner.strides};
  cut.degrees[Dim::c] = of.r;
  cut.degrees.r = of[Dim::c];
  cut.degrees.scatter = Dim::n;
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

std::optional<Config> config_with_weight(const Layer& layer, const Config& owner) {
  const std::optional<Cut> placed = cut_of(owner);
  const std::optional<Cut> cut = placed ? cut_with_weight(layer, *placed) : std::nullopt;
  return cut ? std::optional(config_of(*cut)) : std::nullopt;
}

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

}  // namespace strata
