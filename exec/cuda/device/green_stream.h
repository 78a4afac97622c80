#pragma once

// Streams of a green context, which only the driver makes.

#include <cuda_runtime.h>

namespace strata::cuda {

/// `green`: a CUgreenCtx. Throws EnvironmentError.
cudaStream_t green_stream(void* green);

}  // namespace strata::cuda
