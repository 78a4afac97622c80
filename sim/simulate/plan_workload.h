#pragma once

// Several steps of a Plan as activities of the engine. Pure; thread-safe.

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/workload.h"
#include "sim/plan/plan.h"
#include "sim/simulate/runtime.h"

namespace strata {

struct PlanWorkload {
  Workload workload;
  std::vector<ActivityId> first, last;  ///< by step and task: what starts and what ends it
  /// By step and task: its launch, where hosts take time for it; else empty.
  std::vector<ActivityId> launches = {};
};
/// `steps` copies of the plan as the engine's activities. A collective is one flow (or a chain of
/// them) that starts when every participant is ready. `costs`: by task, the same in every step; or
/// by step and task. Throws Cancelled once `cancelled` is true.
PlanWorkload build_workload(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                            std::size_t steps, const Runtime& runtime = {},
                            const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
