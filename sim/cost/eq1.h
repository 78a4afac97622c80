#pragma once

// Eq. 1 of the paper: a strategy's step time as a sum over layers of t_C + t_S and over edges of
// t_X, each in isolation. The paper's prediction and the solver's objective; the simulator adds
// overlap, contention and pipelining. Seconds. Not thread-safe: costs are remembered.

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cost/group_network.h"
#include "sim/cost/layer_costs.h"
#include "sim/plan/lowering_memo.h"
#include "sim/step/layer_counts.h"
#include "sim/strategy/strategy.h"

namespace strata {

struct LayerTerms {
  Seconds compute;   ///< t_C: the slowest shard's forward, backward and update
  Seconds transfer;  ///< t_X over the layer's inputs and its partial sums, forward and backward
  Seconds sync;      ///< t_S: parameters over replicas, and statistics (batch norm's sums)
  Seconds total() const { return compute + transfer + sync; }
  bool operator==(const LayerTerms&) const = default;
};

class Eq1 {
 public:
  /// `models`: one per device of the cluster. `memo`: of the graph and the cluster, where several
  /// share what they work out of them. `classes`: of all strategies that it is asked for, where
  /// only one device of each is to be looked at. All references must outlive this.
  Eq1(const Graph& graph, const Cluster& cluster, std::span<const CostModel* const> models,
      SyncAlgorithm sync, const ComputeSettings& settings, LoweringMemo* memo = nullptr,
      const DeviceClasses* classes = nullptr);

  /// Of a step that computes the graph in so many rounds, whose gradients add up.
  Seconds compute(LayerId layer, const Config& config, const LayerCounts& counts,
                  std::uint32_t rounds = 1);
  Seconds sync(LayerId layer, const Config& config, std::uint32_t rounds = 1);
  /// The edge into input number `input` of `consumer`: the most loaded link's time, forward and,
  /// where the gradient `returns`, backward.
  Seconds transfer(LayerId consumer, std::size_t input, const Config& producer_config,
                   const Config& consumer_config, bool returns);

  /// Likewise of the sums of a layer that is cut in r, between its shards.
  Seconds partial_sums(LayerId layer, const Config& config, bool returns);

  /// Every layer's terms, in the graph's order. `counts`: of the strategy's step
  /// (count_actions()), by layer. Throws Cancelled (sim/base/cancel.h) once it is called off.
  std::vector<LayerTerms> terms(const Strategy& strategy, std::span<const LayerCounts> counts,
                                std::uint32_t rounds, const std::atomic<bool>* cancelled = nullptr);
  /// Of a step that shares nothing among replicas.
  std::vector<LayerTerms> terms(const Strategy& strategy, std::uint32_t rounds = 1,
                                const std::atomic<bool>* cancelled = nullptr);

  /// LoweringMemo::counts().
  std::span<const LayerCounts> counts() { return memo_.counts(); }

 private:
  Seconds statistics_time(LayerId layer, const Config& config);
  Seconds gradient_time(LayerId layer, const std::vector<std::vector<DeviceId>>& groups,
                        const std::vector<Bytes>& bytes);
  Seconds sync_with_copies(LayerId owner, const Strategy& strategy, std::uint32_t rounds);
  Seconds transfer_by_table(LayerId consumer, std::size_t input, const Degrees& producer,
                            const Degrees& consumer_degrees, bool returns);
  /// Of boxes that were read, both ways where gradients `return` the same; or of those that are
  /// returned alone. What is alike was worked out before.
  enum class Way : std::uint8_t { read, both, returned };
  Seconds exchange_time(const std::shared_ptr<const ClassBoxes>& boxes, Way way);

  const Graph& graph_;
  const Cluster& cluster_;
  std::span<const CostModel* const> models_;
  SyncAlgorithm sync_;
  DTypes dtypes_;
  LayerCosts costs_;
  LoweringMemo own_memo_;
  LoweringMemo& memo_;
  SyncCosts& sync_costs_;
  std::vector<std::uint32_t> ordinals_;
  const DeviceClasses* classes_;
  const std::atomic<bool>* cancelled_ = nullptr;  ///< of the terms at hand
  std::unique_ptr<const GroupNetwork> network_;   ///< made when a wide edge asks for it
  std::map<std::pair<std::shared_ptr<const ClassBoxes>, Way>, Seconds> times_;
};

Seconds total(std::span<const LayerTerms> terms);

/// The most loaded link's time while boxes move to their readers, plus the longest route's latency;
/// and where gradients `return` the same for the way back. With `classes`, `boxes` are what their
/// representatives read (class_boxes.h), for all.
Seconds exchange_time(std::span<const NeededBox> boxes, const Cluster& cluster,
                      std::int64_t element_bytes, bool returns,
                      const DeviceClasses* classes = nullptr);

}  // namespace strata
