#pragma once

// This machine's devices, for the studies: "cpu:N", "cuda:0". The one place that knows every
// backend.

#include <memory>

#include "exec/machine/processes.h"
#include "sim/measure/runner.h"

namespace strata {

/// Whether this build can run on GPUs.
bool has_cuda();

/// The Runner of the main programs. Of several processes, each runs the device of its rank; the
/// processes must outlive it.
std::unique_ptr<Runner> local_machine(const Processes& processes);

}  // namespace strata
