#pragma once

// The functions of cuBLAS that are used, found at run time. Immutable; thread-safe as they are.

#include <string_view>

#include <cublas_v2.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

struct Cublas {
  /// Throws EnvironmentError where the library is not there.
  Cublas();

  /// What a failure becomes: an EnvironmentError with the library's words.
  void check(cublasStatus_t status, std::string_view doing) const;

  Library library{kCublas};
  decltype(cublasGetStatusString)* status_string = nullptr;
  decltype(cublasCreate_v2)* create = nullptr;
  decltype(cublasDestroy_v2)* destroy = nullptr;
  decltype(cublasSetStream_v2)* set_stream = nullptr;
  decltype(cublasSetWorkspace_v2)* set_workspace = nullptr;
  decltype(cublasSetMathMode)* set_math_mode = nullptr;
  decltype(cublasSetSmCountTarget)* set_multiprocessors = nullptr;
  decltype(cublasGemmEx_64)* multiply = nullptr;
};

}  // namespace strata::cuda
