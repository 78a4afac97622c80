#pragma once

// What a Step makes devices do, as far as it tells them apart: one of the readers of a Step, action
// by action. Internal to sim/plan.

#include <atomic>
#include <optional>

#include "sim/plan/colour_refinement.h"
#include "sim/plan/lowering_memo.h"
#include "sim/step/step.h"

namespace strata {

/// What decides it besides the step.
struct BehaviourOf {
  const Graph& graph;
  const Strategy& strategy;
  const Step& step;
  const GradientSync& sync;
  const DomainSymmetry& domains;
  SyncCosts& sync_costs;
  LoweringMemo* exchanges = nullptr;  ///< null where all boxes move pair by pair
  const std::atomic<bool>* cancelled = nullptr;
};

/// `alone`: what is known of each device before. Nothing where the step has exchanges of too many
/// boxes. The result refers to the strategy. Throws Cancelled.
std::optional<DeviceBehaviour> device_behaviour(const BehaviourOf& of, std::vector<Bits> alone);

}  // namespace strata
