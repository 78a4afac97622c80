#pragma once

// What commands say of devices that makes times doubtful, or less than they could be: shared cores,
// other work on the machine, and convolutions that no library's engine computes.

#include <string>
#include <string_view>

#include "sim/cluster/cluster.h"
#include "sim/measure/runner.h"
#include "sim/timeline/execution.h"

namespace strata {

/// Where this process's devices are cores and more than there are.
void warn_of_shared_cores(const Runner& runner, const std::string& devices);

/// Where something else ran beside much of what was measured.
void warn_if_disturbed(const Disturbance& disturbance, std::string_view consequence);

/// A line; empty where there are none.
std::string plain_loops_text(const PlainLoops& loops);

}  // namespace strata
