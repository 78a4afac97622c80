#pragma once

// Every call of a library is checked: what it says of a failure becomes an EnvironmentError.

#include <string_view>

#include <cuda_runtime.h>

namespace strata::cuda {

/// `doing`: "launching a kernel".
void check(cudaError_t status, std::string_view doing);

/// The calling thread's GPU, while it lives.
class OnGpu {
 public:
  explicit OnGpu(int gpu);
  ~OnGpu();
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

 private:
  int before_ = 0;
};

}  // namespace strata::cuda
