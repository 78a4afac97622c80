#pragma once

// Functions of CUDA's driver that its runtime does not have. They are found at run time: a program
// that is linked to the driver does not start where there is none. Thread-safe.

#include <string>

#include <cuda.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

/// The driver's, as CUDA `version` (12040 is 12.4) has it; null where it is not there.
FoundFunction find_in_driver(const char* name, unsigned version);

/// "operation not supported (CUDA_ERROR_NOT_SUPPORTED)".
std::string words_for(CUresult status);

}  // namespace strata::cuda
