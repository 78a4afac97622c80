#include <algorithm>
#include <vector>

#include "sim/graph/regions.h"
#include "sim/profile/measured_cost.h"

namespace strata {
namespace {

// The hull of the boxes: what a kernel is given as its input.
Extents hull(const std::vector<Box>& boxes) {
  if (boxes.empty()) return {};
  Box hull = boxes.front();
  for (const Box& box : boxes) {
    for (Dim dim : kDims) {
      hull[dim].begin = std::min(hull[dim].begin, box[dim].begin);
      hull[dim].end = std::max(hull[dim].end, box[dim].end);
    }
  }
  return extents(hull);
}

}  // namespace

std::vector<Extents> input_extents(const Graph& graph, LayerId layer, const Tile& shard) {
  std::vector<Extents> inputs;
  for (std::size_t i = 0; i < graph[layer].inputs.size(); ++i) {
    inputs.push_back(hull(needed_input(graph, layer, i, shard)));
  }
  return inputs;
}

CostKey cost_key(const Graph& graph, LayerId layer, const Tile& shard, DType dtype, Phase phase,
                 Optimizer optimizer) {
  const Layer& l = graph[layer];
  return {signature(l.op, extents(shard), shard_parameters(l, shard)),
          dtype,
          phase,
          extents(shard),
          input_extents(graph, layer, shard),
          phase == Phase::update ? optimizer : Optimizer::sgd};
}

}  // namespace strata
