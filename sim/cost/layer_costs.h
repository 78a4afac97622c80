#pragma once

// The costs of the shards of one graph's layers, asked of a CostModel once per distinct shape of
// equal layers: the blocks of a transformer repeat the same ones.
// A shard of a layer that is one product with others (sim/step/merged_products.h) costs its part of
// the product, as if the others were cut as it is. Remembers answers; thread-safe.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/graph/graph.h"
#include "sim/step/merged_products.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// What a user chose of a training step that decides what the kernels of its layers do.
struct ComputeSettings {
  DTypes dtypes = {};
  Optimizer optimizer = Optimizer::sgd;
  Products products = Products::apart;
};

using PhaseCosts = std::array<Cost, kKernelPhases>;

/// The types that a layer computes in where the case has `types`. Products in fewer bits are of
/// linear layers, but for that which ends the network (Transformer Engine's recipes; Micikevicius
/// et al., "FP8 Formats for Deep Learning", 2022).
DTypes types_of(const Graph& graph, LayerId layer, DTypes types);

/// All phases of a shard that reads `inputs`, on the device kind of `model`; at the layer's speed.
/// `product`: the layers that are one product with `layer` (MergedProducts::of()).
PhaseCosts shard_costs(const Graph& graph, LayerId layer, std::span<const LayerId> product,
                       const Tile& shard, std::span<const Extents> inputs,
                       const ComputeSettings& settings, const CostModel& model);

class LayerCosts {
 public:
  /// `graph` must outlive this.
  LayerCosts(const Graph& graph, const ComputeSettings& settings);

  const ComputeSettings& settings() const { return settings_; }
  /// What is one product in these costs.
  const MergedProducts& products() const { return products_; }

  /// The first layer of which every shard costs what the same shard of `layer` costs.
  LayerId first_equal(LayerId layer) const { return first_equal_[layer()]; }

  /// All phases of a shard of `layer`, on the device kind of `model`. Stays where it is.
  /// What its experts take of tokens counts (expert_load.h).
  const PhaseCosts& operator()(LayerId layer, const Tile& of, const CostModel& model);

  /// The same by shard of a layer that is cut one way.
  class OfShards {
   public:
    /// `model`: of the shard's device, the same each time.
    const PhaseCosts& operator()(std::size_t shard, const CostModel& model);

   private:
    friend class LayerCosts;
    OfShards(LayerCosts& all, LayerId layer, const Config& config);

    LayerCosts& all_;
    LayerId layer_;
    Partition partition_;
    std::vector<std::atomic<const PhaseCosts*>> known_;
  };
  /// Stays where it is.
  OfShards& of_shards(LayerId layer, const Config& config);

 private:
  struct Known {
    const CostModel* model;
    Extents output;
    std::vector<Extents> inputs;
    Parameters parameters;
    PhaseCosts costs;
  };

  const Graph& graph_;
  ComputeSettings settings_;
  MergedProducts products_;
  std::mutex lock_;
  std::vector<LayerId> first_equal_;                                    // by layer
  std::vector<std::vector<std::unique_ptr<const Known>>> known_;        // by first equal layer
  std::vector<std::map<Config, std::unique_ptr<OfShards>>> of_shards_;  // by layer
};

}  // namespace strata
