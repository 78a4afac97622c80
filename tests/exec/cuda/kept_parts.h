#pragma once

// The parts of GPUs that tests run on, tried once for each list of devices: to try one makes and
// runs products of both libraries in each precision, which a test of one kernel takes no time
// beside. Not thread-safe.

#include <vector>

#include "exec/cuda/device/gpu_part.h"

namespace strata::cuda {

/// Of these devices, as tried_parts() first made them.
const GpuParts& kept_parts(const std::vector<int>& gpus);

}  // namespace strata::cuda
