#pragma once

// Warnings, on standard error, of what makes times doubtful that real devices take.

#include <string>
#include <string_view>

#include "sim/study/case/runner.h"

namespace strata {

/// Where this process's devices are cores and more than there are.
void warn_of_shared_cores(const Runner& runner, const std::string& devices);

/// Where something else ran beside much of what was measured.
void warn_if_disturbed(const Disturbance& disturbance, std::string_view consequence);

}  // namespace strata
