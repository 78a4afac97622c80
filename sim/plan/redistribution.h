#pragma once

// What one edge of the graph reads: for every shard of the consumer, the boxes of the producer's
// output that it needs, and who owns them. Those of another device cross: forward they travel to
// the consumer, backward the gradients of the same boxes travel back. Lowering and Eq. 1 ask here.
// Pure functions; thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// A box of the producer's output that one shard of the consumer reads.
struct NeededBox {
  std::uint32_t producer_shard = 0;
  std::uint32_t consumer_shard = 0;
  DeviceId owner;
  DeviceId reader;
  Box box;
  bool local() const { return owner == reader; }
};

/// Every (consumer shard, producer shard, box) of the edge into `consumer`'s input number `input`,
/// by consumer shard, then producer shard. Local ones are included. Boxes are not empty, and those
/// of one consumer shard are disjoint.
std::vector<NeededBox> needed_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                                    const Config& producer_config, const Config& consumer_config);

/// The parts of the sums of a layer that is cut in r: what each shard (`consumer_shard`) owns of
/// the output, from every shard that adds up terms of it (`producer_shard`), itself included. By
/// owner, then by terms.
std::vector<NeededBox> partial_boxes(const Layer& layer, const Config& config);

}  // namespace strata
