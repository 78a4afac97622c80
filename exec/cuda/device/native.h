#pragma once

// Streams as CUDA's own functions take them.

#include <cuda_runtime.h>

#include "exec/cuda/device/device.h"

namespace strata::cuda {

inline cudaStream_t native(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

/// Of a green context, which only the driver makes; `green`: a CUgreenCtx. Throws EnvironmentError.
cudaStream_t green_stream(void* green);

}  // namespace strata::cuda
