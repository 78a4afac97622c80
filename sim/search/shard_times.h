#pragma once

// How long a device is busy with its shard of a layer, phase by phase, as the simulation has it but
// rounded down. What it does besides (moves, sums of partial terms) is not counted. Not
// thread-safe: costs are remembered.

#include <optional>
#include <span>
#include <vector>

#include "sim/case/predict.h"
#include "sim/cost/layer_costs.h"
#include "sim/step/layer_counts.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Of one round.
struct ShardTimes {
  double forward = 0;  ///< once, with its statistics
  double data = 0;     ///< the gradient of its inputs, with its statistics
  double weights = 0;  ///< the gradient of its parameters
  double update = 0;
};

class ShardTimer {
 public:
  explicit ShardTimer(const Case& input)
      : input_(input),
        counts_(count_actions(input.graph, kernels_of(input),
                              segments(input.graph, input.recompute, kernels_of(input)))),
        costs_(input.graph, compute_settings(input)) {}

  /// The first layer that costs what `layer` costs, where it has the same phases; else `layer`.
  LayerId first_equal(LayerId layer) const;

  ShardTimes times(LayerId layer, const Cut& cut, std::int64_t shard, DeviceId device);
  /// Of a step; 0 where the device has no shard. The update is not counted where it may be made
  /// elsewhere.
  double seconds(LayerId layer, const Cut& cut, DeviceId device);
  /// Adds that of every device.
  void add_seconds(LayerId layer, const Cut& cut, std::span<double> by_device);
  const LayerCounts& counts(LayerId layer) const { return counts_[layer()]; }

 private:
  double of_step(LayerId layer, const ShardTimes& times, bool updates) const;
  static std::optional<std::int64_t> shard_on(const Cut& cut, DeviceId device);
  bool may_update_elsewhere(LayerId layer, const Cut& cut) const;

  const Case& input_;
  const std::vector<LayerCounts> counts_;  ///< by layer
  LayerCosts costs_;
};

}  // namespace strata
