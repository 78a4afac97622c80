#include "exec/cuda/products/cublas.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cuda {

Cublas::Cublas() {
  library.find(status_string, "cublasGetStatusString");
  library.find(create, "cublasCreate_v2");
  library.find(destroy, "cublasDestroy_v2");
  library.find(set_stream, "cublasSetStream_v2");
  library.find(set_workspace, "cublasSetWorkspace_v2");
  library.find(set_math_mode, "cublasSetMathMode");
  library.find(set_multiprocessors, "cublasSetSmCountTarget");
  library.find(multiply, "cublasGemmEx_64");
}

void Cublas::check(cublasStatus_t status, std::string_view doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw EnvironmentError(fmt::format("cuBLAS: {}: {}", doing, status_string(status)));
}

}  // namespace strata::cuda
