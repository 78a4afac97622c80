#include "exec/cuda/device/check.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cuda {

void check(cudaError_t status, std::string_view doing) {
  if (status == cudaSuccess) return;
  throw EnvironmentError(fmt::format("CUDA: {}: {} ({})", doing, cudaGetErrorString(status),
                                     cudaGetErrorName(status)));
}

void use_gpu(int gpu) {
  int used = 0;
  check(cudaGetDevice(&used), "asking for the thread's GPU");
  if (used != gpu) check(cudaSetDevice(gpu), "choosing a GPU");
}

}  // namespace strata::cuda
