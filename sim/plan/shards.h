#pragma once

// Which shards of each layer get tasks: all or, in a plan by classes, those on the devices that
// stand for their classes. A slot is a shard's place among those of its layer. Values.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/plan/device_classes.h"
#include "sim/step/step.h"
#include "sim/strategy/strategy.h"

namespace strata {

class Shards {
 public:
  /// All references must outlive this; `classes` may be null.
  Shards(const Graph& graph, const Strategy& strategy, const Step& step,
         const DeviceClasses* classes);

  std::span<const std::uint32_t> of(LayerId layer) const { return with_tasks_[layer()]->shards; }
  /// Of these shards those that have tasks.
  std::vector<std::uint32_t> of(LayerId layer, std::span<const std::uint32_t> shards) const;
  std::size_t slot(LayerId layer, std::size_t shard) const {
    return with_tasks_[layer()]->slots[shard];
  }
  /// Of the other layer's shard on the same device.
  std::size_t slot_beside(LayerId other, LayerId layer, std::size_t shard) const;
  /// Of the layer's shard on the device.
  std::optional<std::size_t> slot_on(LayerId layer, DeviceId device) const;
  DeviceId device(LayerId layer, std::size_t shard) const {
    return strategy_[layer].devices[shard];
  }
  bool has_tasks(DeviceId device) const {
    return classes_ == nullptr || classes_->is_representative(device);
  }

  /// What the shard has of the output, what it owns of the output's gradient, and what it computes.
  Box held(LayerId layer, std::size_t shard) const;
  Box owned(LayerId layer, std::size_t shard) const;
  Tile tile(LayerId layer, std::size_t shard) const;

 private:
  struct OfLayer {
    std::vector<std::uint32_t> shards;
    std::vector<std::uint32_t> slots;  // by shard of the layer: where in `shards` it stands
  };
  static OfLayer all(const Config& config);
  static OfLayer of_classes(const Config& config, const DeviceClasses& classes);

  const Strategy& strategy_;
  const Step& step_;
  const DeviceClasses* classes_;
  std::vector<Partition> partitions_;                       // by layer
  std::vector<std::shared_ptr<const OfLayer>> with_tasks_;  // by layer; equal ones are shared
};

}  // namespace strata
