#pragma once

// The stages of a strategy as a pipeline has them: sets of devices that compute one after another.
// Nothing but the devices of the layers' shards says so. Values; thread-safe.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/strategy/schedule.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// Layers that follow one another in the graph's order and share devices.
struct Chunk {
  LayerId first, last;            ///< network inputs before or between them are not counted
  std::vector<DeviceId> devices;  ///< that hold their shards; sorted
  std::uint32_t stage = 0;        ///< whose devices these are

  bool operator==(const Chunk&) const = default;
};

/// Where the devices of a layer are all others than those of its chunk so far, a new chunk begins;
/// where stages come in order and then in reverse, the one at the turn is two, of equal
/// multiply-adds. Chunks whose devices meet belong to one stage. Stages are numbered as their first
/// chunks are, and no device is in two of them.
struct Stages {
  /// A network input has the chunk of its first reader, 0 where none reads it.
  std::vector<std::uint32_t> chunk_of_layer;
  std::vector<Chunk> chunks;                   ///< in the graph's order
  std::vector<std::vector<DeviceId>> devices;  ///< by stage; sorted

  std::size_t stages() const { return devices.size(); }
  const Chunk& chunk_of(LayerId layer) const { return chunks[chunk_of_layer[layer()]]; }
  bool operator==(const Stages&) const = default;
};

/// `strategy`: sound for the graph, as validate() has it.
Stages stages_of(const Graph& graph, const Strategy& strategy);

/// Whether the layer's input number `input` is made on another stage; false for a network input.
bool comes_from_another_stage(const Graph& graph, const Stages& stages, LayerId layer,
                              std::size_t input);

/// Segments that are computed again, each cut where a chunk ends: a stage computes again what it
/// computed. Numbered in the graph's order.
Segments within_chunks(const Graph& graph, const Stages& stages, const Segments& segments);

/// The chunks as schedules know them; of one stage, one chunk that has all layers.
Pipeline pipeline_of(const Graph& graph, const Stages& stages);

}  // namespace strata
