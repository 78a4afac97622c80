#pragma once

// The functions of cuBLAS that are used, found at run time. Immutable; thread-safe as they are.

#include <string_view>

#include <cublas_v2.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

/// To make one throws EnvironmentError where the library is not there.
struct Cublas {
  /// What a failure becomes: an EnvironmentError with the library's words.
  void check(cublasStatus_t status, std::string_view doing) const;

  Library library{kCublas};
  decltype(cublasGetStatusString)* status_string = library.find("cublasGetStatusString");
  decltype(cublasCreate_v2)* create = library.find("cublasCreate_v2");
  decltype(cublasDestroy_v2)* destroy = library.find("cublasDestroy_v2");
  decltype(cublasSetStream_v2)* set_stream = library.find("cublasSetStream_v2");
  decltype(cublasSetWorkspace_v2)* set_workspace = library.find("cublasSetWorkspace_v2");
  decltype(cublasSetMathMode)* set_math_mode = library.find("cublasSetMathMode");
  decltype(cublasSetSmCountTarget)* set_multiprocessors = library.find("cublasSetSmCountTarget");
  decltype(cublasGemmEx_64)* multiply = library.find("cublasGemmEx_64");
};

}  // namespace strata::cuda
