#pragma once

// The first interpreter of the Plan: several steps of it, on profiled costs, over the discrete-
// event engine. Tasks, order and bytes are the Plan's; this adds only time. Pure; thread-safe as
// long as each call has its own LayerCosts.

#include <atomic>
#include <cstdint>
#include <span>

#include "sim/cluster/cluster.h"
#include "sim/cost/layer_costs.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/simulate/plan_workload.h"
#include "sim/simulate/runtime.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// How long every task takes that occupies its device; other tasks get none. By task, with the
/// source. Throws InternalError where the costs are of other products or of another
/// optimizer than the plan.
std::vector<Cost> task_costs(const Plan& plan, const Graph& graph, const Strategy& strategy,
                             LayerCosts& costs, std::span<const CostModel* const> models);

/// The seconds of compute that rest on each kind of cost, of all devices, in some rounds.
struct CostSources {
  Seconds measured, interpolated, related, analytic;
  Seconds total() const { return measured + interpolated + related + analytic; }
  bool operator==(const CostSources&) const = default;
};
CostSources cost_sources(const Plan& plan, std::span<const Cost> costs, Rounds rounds = {});

/// `costs`: as build_workload() takes them. Where all steps repeat the first one exactly, only that
/// is simulated. Where they have not settled at the end, as they begin further apart than they end,
/// more of them tell what none can be shorter than in the long run. Throws InputError if the
/// cluster does not connect two devices that must speak, and Cancelled once `cancelled` is true.
Timeline simulate(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                  std::size_t steps, const Runtime& runtime = {}, bool record_link_rates = false,
                  const std::atomic<bool>* cancelled = nullptr);

/// What a step comes to.
struct SteadyStep {
  Timeline timeline;  ///< of all steps, or of the first ones where the others repeat them
  Seconds seconds;    ///< Timeline::step_seconds() of all steps
  Seconds makespan;   ///< of all steps
};
/// `costs`: by task. `settles`: the timeline may also be of three steps, where the tasks with which
/// the second begins do so a little earlier, while the first ends, and all later ones repeat it.
/// Throws as simulate() does.
SteadyStep simulate_steady(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                           std::size_t steps, const Runtime& runtime = {}, bool settles = false,
                           const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
