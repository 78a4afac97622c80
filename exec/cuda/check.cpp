#include "exec/cuda/check.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cuda {

void check(cudaError_t status, std::string_view doing) {
  if (status == cudaSuccess) return;
  throw EnvironmentError(fmt::format("CUDA: {}: {} ({})", doing, cudaGetErrorString(status),
                                     cudaGetErrorName(status)));
}

OnGpu::OnGpu(int gpu) {
  check(cudaGetDevice(&before_), "asking for the thread's GPU");
  if (before_ != gpu) check(cudaSetDevice(gpu), "choosing a GPU");
}

OnGpu::~OnGpu() {
  cudaSetDevice(before_);
}

}  // namespace strata::cuda
