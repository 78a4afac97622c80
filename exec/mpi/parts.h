#pragma once

// Who of the ranks has a part in a task: its device's rank does the task, and hears from those that
// own what it reads. Follows from the plan alone. Rank r is device r.

#include <vector>

#include "sim/plan/plan.h"

namespace strata::mpi {

/// Whose values the task needs, none twice, never its own device; by participant for groups.
std::vector<DeviceId> senders(const Plan& plan, TaskId task);

enum class Part : std::uint8_t { none, sends, does };
Part part_of(const Plan& plan, TaskId task, DeviceId device);

}  // namespace strata::mpi
