#include "exec/cuda/device/driver.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

namespace strata::cuda {

// A driver older than the version refuses the question, which is an answer.
FoundFunction find_in_driver(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  if (status != cudaSuccess) cudaGetLastError();  // which would be told again
  const bool there = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return FoundFunction(there ? function : nullptr);
}

std::string words_for(CUresult status) {
  decltype(cuGetErrorString)* const string_of = find_in_driver("cuGetErrorString", 12000);
  decltype(cuGetErrorName)* const name_of = find_in_driver("cuGetErrorName", 12000);
  const char *words = nullptr, *name = nullptr;
  if (string_of != nullptr) string_of(status, &words);
  if (name_of != nullptr) name_of(status, &name);
  if (words == nullptr || name == nullptr) {
    return fmt::format("error {}", static_cast<int>(status));
  }
  return fmt::format("{} ({})", words, name);
}

}  // namespace strata::cuda
