#pragma once

// Which devices a move occupies, and the order of a device's work and moves where it does one
// thing at a time (Overlap::none). Internal to sim/simulate.

#include <vector>

#include "sim/simulate/plan_workload.h"

namespace strata {

/// The devices that take part in a collective, an exchange or a transfer, or stand for those that
/// do.
std::vector<DeviceId> moving_devices(const Plan& plan, const Task& task);

/// Adds what activities of all steps wait for, so that each device does one thing at a time.
void take_turns(const Plan& plan, const Cluster& cluster, PlanWorkload& built);

}  // namespace strata
