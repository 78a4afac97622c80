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
  std::uint32_t copies = 1;  ///< where one stands for all that are alike (class_boxes.h)
  bool local() const { return owner == reader; }
};

/// Every (consumer shard, producer shard, box) of the edge into `consumer`'s input number `input`,
/// by consumer shard, then producer shard. Local ones are included. Boxes are not empty, and those
/// of one consumer shard are disjoint.
std::vector<NeededBox> needed_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                                    const Config& producer_config, const Config& consumer_config);

/// Where either layer has copies (Partition::repeats()): the gradients that go back, in the same
/// order. Each element of what owners have goes back from one copy of the consumer's, that on the
/// owner's device if there is one.
std::vector<NeededBox> returned_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                                      const Config& producer_config, const Config& consumer_config);

/// Whether each shard of a layer that is cut in r gets the whole gradient of what it computes from
/// its own device: its readers are copies that lie alike.
bool gets_whole_gradient(const Graph& graph, const Strategy& strategy, LayerId layer);
/// What goes back to such a layer from one reader.
std::vector<NeededBox> boxes_of_whole_gradient(const Graph& graph, LayerId consumer,
                                               std::size_t input, const Config& config);

/// Whether every consumer shard reads of the producer's shard on its own device, and of no other,
/// and the gradient goes back there: both lie alike, as copies or not, and no cut dim is read
/// beyond what a shard makes.
bool reads_own_shard(const Graph& graph, LayerId consumer, std::size_t input,
                     const Config& producer_config, const Config& consumer_config);

/// The layer that reads `layer`'s only input for both: first_reader(), where it is cut alike.
LayerId shared_reader(const Graph& graph, const Strategy& strategy, LayerId layer);

/// What the shards of a consumer read of one input, what several read alike told once.
struct EdgeReads {
  struct Owner {
    std::uint32_t shard = 0;    ///< of the producer
    std::int64_t elements = 0;  ///< that are read of it
  };
  std::vector<std::vector<Box>> boxes;  ///< by reading: what is needed, disjoint
  std::vector<std::vector<Owner>> owners;
  std::vector<std::vector<std::uint32_t>> readers;  ///< consumer shards, in order
  /// Whether some owner is met in several boxes of one reading.
  bool in_pieces = false;
};
EdgeReads edge_reads(const Graph& graph, LayerId consumer, std::size_t input,
                     const Config& producer_config, const Config& consumer_config);
/// Where either has copies: the same of the gradients that go back (returned_boxes()).
EdgeReads edge_returns(const Graph& graph, LayerId consumer, std::size_t input,
                       const Config& producer_config, const Config& consumer_config);
/// Whether the layer's shards are copies under this config.
inline bool has_copies(const Layer& layer, const Config& config) {
  return partition(layer, config.degrees).repeats();
}

/// The parts of the sums of a layer that is cut in r: what each shard (`consumer_shard`) owns of
/// the output, from every shard that adds up terms of it (`producer_shard`), itself included. By
/// owner, then by terms.
std::vector<NeededBox> partial_boxes(const Layer& layer, const Config& config);

}  // namespace strata
