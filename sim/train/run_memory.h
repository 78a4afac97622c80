#pragma once

// Whether this machine's memory holds a run. Pure but for asking the machine what is free.

#include <string>

#include "sim/train/run.h"

namespace strata {

/// Throws EnvironmentError for a plan on this machine's cores that needs more than is free.
void check_memory(const RunRequest& request, const Case& input, const Plan& plan);

/// Why layers are not compared; empty where they can be. What a run without that has room for is
/// not refused for its sake.
std::string why_not_by_layer(const Runner& runner, const RunRequest& request, const Case& input,
                             const Plan& plan, const Plan& alone);

}  // namespace strata
