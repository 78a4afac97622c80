#pragma once

// What one edge of the graph reads, for the devices that stand for their classes: of each shard's
// many boxes those that differ, with their number. Boxes are alike where as much moves between
// devices of the same classes, within a host or between hosts. Pure functions; thread-safe.

#include <vector>

#include "sim/plan/device_classes.h"
#include "sim/step/redistribution.h"

namespace strata {

struct ClassBoxes {
  std::vector<NeededBox> read;      ///< by representatives; by consumer shard, then producer shard
  std::vector<NeededBox> returned;  ///< their gradients, to representatives; by producer shard
};
/// `copies` of each says for how many it stands of those of its consumer, or of its producer.
/// `whole_gradient`: of the producer (gets_whole_gradient()).
ClassBoxes class_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                       const Config& producer_config, const Config& consumer_config,
                       bool whole_gradient, const DeviceClasses& classes);

/// Of the sums of a layer that is cut in r, likewise: what representatives own, and what they add
/// up terms of. One by one.
ClassBoxes class_partial_boxes(const Layer& layer, const Config& config,
                               const DeviceClasses& classes);

}  // namespace strata
