#pragma once

// Every call of a library is checked: what it says of a failure becomes an EnvironmentError.

#include <string_view>

#include <cuda_runtime.h>

namespace strata::cuda {

/// `doing`: "launching a kernel".
void check(cudaError_t status, std::string_view doing);

/// What the calling thread does from now on is the GPU's. Nobody chooses the one before again: that
/// would make a context on GPU 0, which a thread has at first, though nobody uses it.
void use_gpu(int gpu);

}  // namespace strata::cuda
