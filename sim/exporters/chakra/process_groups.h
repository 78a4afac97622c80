#pragma once

// The groups of devices of a Plan as communicators of execution traces. Groups of the same devices
// and algorithm share one, but statistics, parameters and exchanges have their own: which of them
// comes first is decided by time.

#include <string>

#include "sim/plan/plan.h"

namespace strata {

/// A number, as readers expect.
std::string process_group_name(const Group& group);
std::string process_group_name(const Plan& plan, const Exchange& exchange);

/// Those that the device is in, as PyTorch's traces list them: a list of one JSON text.
std::string process_groups(const Plan& plan, DeviceId device);

}  // namespace strata
