#include "exec/cuda/device/driver.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

namespace strata::cuda {

// A driver older than the version refuses the question, which is an answer.
void* driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  if (status != cudaSuccess) cudaGetLastError();  // which would be told again
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}

std::string words_for(CUresult status) {
  decltype(cuGetErrorString)* string_of = nullptr;
  decltype(cuGetErrorName)* name_of = nullptr;
  find_in_driver(string_of, "cuGetErrorString", 12000);
  find_in_driver(name_of, "cuGetErrorName", 12000);
  const char *words = nullptr, *name = nullptr;
  if (string_of != nullptr) string_of(status, &words);
  if (name_of != nullptr) name_of(status, &name);
  if (words == nullptr || name == nullptr) {
    return fmt::format("error {}", static_cast<int>(status));
  }
  return fmt::format("{} ({})", words, name);
}

}  // namespace strata::cuda
