#pragma once

// t_C + t_S of a layer for each of its choices, and t_X of its partial sums: the same times as
// Eq1::compute, Eq1::sync and Eq1::partial_sums, with
// what the choices have in common done once. Shards of equal shape cost the same, and there are few
// shapes: along a dim, parts differ by one element and by whether they lie at the border.
// Thread-safe.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "sim/cost/layer_costs.h"
#include "sim/plan/sync_costs.h"
#include "sim/step/layer_counts.h"
#include "sim/strategy/search_space.h"

namespace strata {

class LayerTable {
 public:
  /// As for Eq1. All references must outlive this. `counts`: of any strategy's step, by layer.
  LayerTable(const Graph& graph, const Cluster& cluster, std::span<const CostModel* const> models,
             SyncAlgorithm sync, const ComputeSettings& settings, std::uint32_t rounds,
             std::span<const LayerCounts> counts);

  /// By choice. Throws Cancelled (sim/base/cancel.h) once it is called off.
  std::vector<double> seconds(LayerId layer, const Cuts& cuts,
                              const std::atomic<bool>* cancelled = nullptr) const;
  /// Whether two layers cost the same for every choice of the same cuts.
  bool equal(LayerId a, LayerId b) const;

 private:
  // A part of the output along one dim: its size, and those of what it reads of each input. The
  // terms that it adds up are all but along c, where they decide what is read.
  struct Shape {
    std::int64_t output;
    std::vector<std::int64_t> inputs;
    bool operator==(const Shape&) const = default;
  };
  using Shapes = std::vector<Shape>;
  using GroupKey = std::vector<std::int32_t>;

  // What the choices of one layer share.
  struct Known {
    std::map<std::pair<Dim, std::int32_t>, Shapes> shapes;  // by dim and degree
    std::map<GroupKey, double> parameters, statistics;      // by how they lie, and their sizes
    std::map<GroupKey, double> partial_sums;                // by how they lie
  };

  std::vector<std::int64_t> merged_channels(LayerId layer) const;
  Shape shape(LayerId layer, Dim dim, Interval part, Interval terms = Tile::kAllTerms) const;
  std::vector<Interval> distinct_terms(LayerId layer, std::int32_t degree) const;
  const Shapes& distinct_shapes(LayerId layer, Dim dim, std::int32_t degree, Known& known) const;
  double cost(LayerId layer, const PerDim<const Shape*>& shapes, Interval terms,
              const CostModel& model) const;
  double compute(LayerId layer, const Cut& cut, Known& known) const;
  double compute_by_device(LayerId layer, const Cut& cut) const;
  double sync(LayerId layer, const Cut& cut, Known& known) const;
  double partial_sums(LayerId layer, const Cut& cut, Known& known) const;
  double parameter_time(LayerId layer, const Cut& cut, const JointSync& joint) const;
  double statistics_time(LayerId layer, const Cut& cut, const PerDim<bool>& over,
                         const JointSync& joint) const;
  const JointSync& joint(const GroupKey& key, const Cut& cut, const PerDim<bool>& over) const;

  const Graph& graph_;
  const Cluster& cluster_;
  std::span<const CostModel* const> models_;
  SyncAlgorithm sync_;
  ComputeSettings settings_;
  MergedProducts products_;
  double rounds_;
  std::span<const LayerCounts> counts_;
  bool alike_;  ///< all devices of one kind and speed
  std::vector<std::uint32_t> ordinals_;
  mutable SyncCosts sync_costs_;
  mutable std::mutex lock_;
  mutable std::map<GroupKey, const JointSync*> joints_;
};

}  // namespace strata
