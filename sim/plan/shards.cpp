#include "sim/plan/shards.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/base/error.h"
#include "sim/graph/regions.h"

namespace strata {

Shards::OfLayer Shards::all(const Config& config) {
  std::vector<std::uint32_t> shards(config.devices.size());
  std::iota(shards.begin(), shards.end(), 0u);
  return {shards, shards};
}

// Each device that stands for a class has one shard for the whole class.
Shards::OfLayer Shards::of_classes(const Config& config, const DeviceClasses& classes) {
  OfLayer found;
  std::map<DeviceId, std::uint32_t> slots;
  for (std::uint32_t shard = 0; shard < config.devices.size(); ++shard) {
    if (!classes.is_representative(config.devices[shard])) continue;
    slots.emplace(config.devices[shard], static_cast<std::uint32_t>(found.shards.size()));
    found.shards.push_back(shard);
  }
  for (const DeviceId device : config.devices) {
    found.slots.push_back(slots.at(classes.representative(device)));
  }
  return found;
}

Shards::Shards(const Graph& graph, const Strategy& strategy, const Step& step,
               const DeviceClasses* classes)
    : strategy_(strategy), step_(step), classes_(classes) {
  const Config* before = nullptr;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Config& config = strategy[LayerId(i)];
    partitions_.push_back(partition(graph[LayerId(i)], config.degrees));
    const bool lies_as_before = before != nullptr && before->devices == config.devices;
    before = is_input(graph[LayerId(i)].op) ? nullptr : &config;
    if (before == nullptr) {  // it has no tasks
      with_tasks_.push_back(std::make_shared<const OfLayer>());
    } else if (lies_as_before) {
      with_tasks_.push_back(with_tasks_.back());
    } else {
      with_tasks_.push_back(std::make_shared<const OfLayer>(
          classes != nullptr ? of_classes(config, *classes) : all(config)));
    }
  }
}

std::vector<std::uint32_t> Shards::of(LayerId layer, std::span<const std::uint32_t> shards) const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t shard : shards) {
    if (has_tasks(device(layer, shard))) found.push_back(shard);
  }
  return found;
}

std::size_t Shards::slot_beside(LayerId other, LayerId layer, std::size_t shard) const {
  const DeviceId on = device(layer, shard);
  const ShardDevices& devices = strategy_[other].devices;
  if (devices[shard] == on) return slot(other, shard);
  const std::optional<std::size_t> found = slot_on(other, on);
  if (!found) throw InternalError("layers that share a weight lie on other devices");
  return *found;
}

std::optional<std::size_t> Shards::slot_on(LayerId layer, DeviceId device) const {
  const ShardDevices& devices = strategy_[layer].devices;
  const auto at = std::find(devices.begin(), devices.end(), device);
  if (at == devices.end()) return std::nullopt;
  return slot(layer, static_cast<std::size_t>(at - devices.begin()));
}

Box Shards::held(LayerId layer, std::size_t shard) const {
  return partitions_[layer()].held(static_cast<std::int64_t>(shard));
}

Box Shards::owned(LayerId layer, std::size_t shard) const {
  if (step_[layer].whole_gradient) return tile(layer, shard);
  return partitions_[layer()].box(static_cast<std::int64_t>(shard));
}

Tile Shards::tile(LayerId layer, std::size_t shard) const {
  return partitions_[layer()].tile(static_cast<std::int64_t>(shard));
}

}  // namespace strata
