#include "exec/cuda/device/check.h"

#include <string>

#include <fmt/format.h>

#include "exec/cuda/device/device.h"
#include "exec/cuda/device/out_of_memory.h"
#include "sim/base/error.h"

namespace strata::cuda {

void check(cudaError_t status, std::string_view doing) {
  if (status == cudaSuccess) return;
  const std::string words =
      fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
  if (status == cudaErrorMemoryAllocation) {
    forget_last_error();
    throw EnvironmentError(out_of_memory(gpu_in_use(), doing, "CUDA: " + words));
  }
  throw EnvironmentError(fmt::format("CUDA: {}: {}", doing, words));
}

void use_gpu(int gpu) {
  int used = 0;
  check(cudaGetDevice(&used), "asking for the thread's GPU");
  if (used != gpu) check(cudaSetDevice(gpu), "choosing a GPU");
}

}  // namespace strata::cuda
