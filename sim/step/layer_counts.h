#pragma once

// How often a step does what belongs to each layer: for those who add up costs over a step without
// its tasks, as Eq. 1, the search's bounds and counts of operations do. Pure; thread-safe.

#include <array>
#include <cstdint>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/graph/ops/phase.h"
#include "sim/step/step.h"
#include "sim/strategy/recomputation.h"

namespace strata {

/// Each round does the same. What moves for layers that are computed again is not counted.
struct LayerCounts {
  std::array<std::uint8_t, kKernelPhases> computed{};  ///< by every shard, in a round
  PhaseSet sums_statistics;       ///< that shards combine, by the phase whose result they are
  std::vector<bool> reads;        ///< by input: it comes from the shards that made it
  std::vector<bool> returns;      ///< by input: its gradient goes back there
  bool spreads_gradient = false;  ///< of its output, to all shards that compute terms of it
  bool updates = false;           ///< once in the step

  /// In a step of so many rounds.
  double times(Phase phase, double rounds) const {
    if (phase == Phase::update) return updates ? 1 : 0;
    return computed[static_cast<std::size_t>(phase)] * rounds;
  }
  bool computes(Phase phase) const { return times(phase, 1) > 0; }
  bool has_backward() const {
    return computes(Phase::backward_statistics) || computes(Phase::backward_data) ||
           computes(Phase::backward_weights);
  }
  bool operator==(const LayerCounts&) const = default;
};

/// What the step does, counted by layer.
std::vector<LayerCounts> count_actions(const Graph& graph, const Step& step);

/// Of a step on one device, which does what any strategy does, but that nothing needs to be moved.
/// `kernels`: keeping_most() of all devices.
std::vector<LayerCounts> count_actions(const Graph& graph, const KernelTraits& kernels,
                                       const Segments& segments = {});

}  // namespace strata
