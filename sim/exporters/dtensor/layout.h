#pragma once

// What PyTorch's DTensor can express of a strategy. DTensor lays all tensors out over one mesh of
// devices, row-major, and says for each dim of the mesh which dim of the tensor it cuts, or none:
// replicated. A strategy's cut fits where strides place its shards (search_space.h) and every dim
// of the mesh lies within one dim of the cut. Values and pure functions; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {

struct LayerLayout {
  bool expressible = true;  ///< else there are no cuts
  /// By dim of the mesh: the dim of the output that it cuts, as the output lies in the end.
  std::vector<std::optional<Dim>> cuts;
  /// By dim of the mesh: whether it runs over the terms of the layer's sums. The cut is then the
  /// dim along which the sums are scattered.
  std::vector<bool> terms;
  /// What DTensor cannot do of it, or does otherwise; clauses in plain words.
  std::vector<std::string> limits;
  bool operator==(const LayerLayout&) const = default;
};

struct DTensorLayout {
  std::vector<std::int64_t> mesh;   ///< extents, the slowest first; their product is all devices
  std::vector<LayerLayout> layers;  ///< in the graph's order; network inputs are never cut
  bool operator==(const DTensorLayout&) const = default;
};

/// The mesh is what most layers need; a layer whose cut does not fit it is not expressible.
DTensorLayout dtensor_layout(const Graph& graph, const Strategy& strategy, std::size_t devices);

}  // namespace strata
