#pragma once

// Lowering: (Graph, Cluster, Strategy) to a Plan, by way of a Step (sim/step), whose actions are
// expanded into the tasks of devices one after another.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/lowering_memo.h"
#include "sim/plan/plan.h"
#include "sim/step/exchange_groups.h"
#include "sim/step/step.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/strategy.h"

namespace strata {

inline constexpr std::size_t kUsualFlowsPerEdge = 1024;

struct LowerOptions {
  GradientSync sync = {};
  DTypes dtypes = {};
  Optimizer optimizer = Optimizer::sgd;
  /// Where an edge would need more flows than this in one direction, what one device receives
  /// becomes one transfer whose pieces carry bytes by source, without their boxes.
  std::size_t max_flows_per_edge = kUsualFlowsPerEdge;
  /// By device: what its kernels keep; none where all are the usual ones.
  std::vector<KernelTraits> kernels = {};
  /// What a shard gathered of its inputs is dropped after its forward pass, and gathered again for
  /// its backward (as Megatron's sequence parallelism does), where whoever sends it has a shard of
  /// the layer, too.
  bool gathers_again = false;
  /// Whether a library does what devices exchange, where it can.
  Exchanges exchanges = Exchanges::pairwise;
  /// The batch is so many times that of the graph, which each round computes; and in which order
  /// the strategy's stages do so.
  std::uint32_t rounds = 1;
  ScheduleChoice schedule = {};
  Products products = Products::apart;
  /// Of the graph and the cluster, where several plans share what they work out of them.
  LoweringMemo* memo = nullptr;
  /// Looked at layer by layer (sim/base/cancel.h).
  const std::atomic<bool>* cancelled = nullptr;
  /// Of more tasks than this a plan is given up; also looked at layer by layer.
  std::size_t most_tasks = std::numeric_limits<std::size_t>::max();
};

/// What of them decides the Step.
StepOptions step_options(const LowerOptions& options);

/// Thrown where a plan has more tasks than it may. Not an Error: nothing is wrong.
struct TooManyTasks {};

/// `strategy` must be sound for the graph and the cluster (validate() found nothing). Throws
/// InputError where the schedule does not suit its stages, or the synchronisation is not sound
/// (check()), Cancelled once it is called off, and TooManyTasks.
Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
           const LowerOptions& options = {});
/// Of the strategy's Step by these options.
Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy, const Step& step,
           const LowerOptions& options);

/// The same with tasks on one device of each class alone (device_classes.h). `cost_models`: by
/// device, a number for each; none where all devices of a kind have one. Where no two devices are
/// alike, this is lower().
Plan lower_by_class(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const LowerOptions& options = {},
                    std::span<const std::uint32_t> cost_models = {});
Plan lower_by_class(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const Step& step, const LowerOptions& options,
                    std::span<const std::uint32_t> cost_models);

}  // namespace strata
