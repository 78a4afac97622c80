#pragma once

// The costs of the shards of one graph's layers, asked of a CostModel once per distinct shape.
// Not thread-safe: it remembers answers.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/graph/graph.h"

namespace strata {

using PhaseCosts = std::array<Cost, kKernelPhases>;

class LayerCosts {
 public:
  /// `graph` must outlive this.
  LayerCosts(const Graph& graph, DType dtype)
      : graph_(graph), dtype_(dtype), known_(graph.size()) {}

  /// All phases of a shard of `layer`, on the device kind of `model`. Stays where it is.
  const PhaseCosts& operator()(LayerId layer, const Tile& shard, const CostModel& model);

 private:
  struct Known {
    const CostModel* model;
    Extents output;
    std::vector<Extents> inputs;
    Parameters parameters;
    PhaseCosts costs;
  };

  const Graph& graph_;
  DType dtype_;
  std::vector<std::vector<std::unique_ptr<const Known>>> known_;
};

}  // namespace strata
