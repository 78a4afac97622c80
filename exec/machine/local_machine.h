#pragma once

// This machine's devices, for the studies: "cpu:N". The one place that knows every backend.

#include <memory>

#include "sim/study/runner.h"

namespace strata {

/// The Runner of the main programs.
std::unique_ptr<Runner> local_machine();

}  // namespace strata
