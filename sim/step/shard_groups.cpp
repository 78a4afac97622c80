#include "sim/step/shard_groups.h"

#include <numeric>

#include "sim/graph/regions.h"

namespace strata {

std::vector<std::vector<std::uint32_t>> shard_groups(const Degrees& degrees,
                                                     const PerDim<bool>& over) {
  // Of the owners of the output, those of one sum have different terms.
  const auto together = [&](Dim dim) { return dim == degrees.scatter ? degrees.r : 1; };
  Degrees kept = output_degrees(degrees);
  for (Dim dim : kDims) {
    if (over[dim]) kept[dim] = together(dim);
  }
  const Partition cut({}, degrees), representatives({}, kept);
  std::vector<std::vector<std::uint32_t>> groups(
      static_cast<std::size_t>(representatives.shard_count()));
  if (groups.size() == 1) {  // all of them, whatever their coordinates
    groups.front().resize(static_cast<std::size_t>(cut.shard_count()));
    std::iota(groups.front().begin(), groups.front().end(), 0u);
    return groups;
  }
  const auto members = static_cast<std::size_t>(cut.shard_count()) / groups.size();
  for (auto& group : groups) group.reserve(members);
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    PerDim<std::int32_t> at = cut.coordinates(shard);
    for (Dim dim : kDims) {
      if (over[dim]) at[dim] %= together(dim);
    }
    groups[static_cast<std::size_t>(representatives.shard_at(at))].push_back(
        static_cast<std::uint32_t>(shard));
  }
  return groups;
}

std::vector<std::vector<std::uint32_t>> replica_shards(const Layer& layer, const Degrees& degrees) {
  return shard_groups(degrees, layer.parameters.replicated());
}

std::vector<DeviceId> devices_of(const Config& config, std::span<const std::uint32_t> shards) {
  std::vector<DeviceId> devices;
  devices.reserve(shards.size());
  for (const std::uint32_t shard : shards) devices.push_back(config.devices[shard]);
  return devices;
}

std::vector<std::uint32_t> parameter_ordinals(const Graph& graph) {
  std::vector<std::uint32_t> ordinals;
  std::uint32_t next = 0;
  for (const Layer& layer : graph.layers()) {
    ordinals.push_back(layer.held().total() > 0 ? next++ : 0);
  }
  return ordinals;
}

}  // namespace strata
