#pragma once

// Who of the ranks has a part in a task: its device's rank does the task, and hears from those that
// own what it reads. Follows from the plan alone. Rank r is device r.

#include <cstdint>
#include <vector>

#include "sim/plan/plan.h"

namespace strata::mpi {

/// Whose values the task needs, none twice, never its own device; by participant for groups.
std::vector<DeviceId> senders(const Plan& plan, TaskId task);

enum class Part : std::uint8_t { none, sends, does };
/// Of the device's rank, by task.
std::vector<Part> parts_of(const Plan& plan, DeviceId device);
/// By task.
std::vector<bool> having_part(const std::vector<Part>& parts);

}  // namespace strata::mpi
