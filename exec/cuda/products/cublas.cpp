#include "exec/cuda/products/cublas.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cuda {

void Cublas::check(cublasStatus_t status, std::string_view doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw EnvironmentError(fmt::format("cuBLAS: {}: {}", doing, status_string(status)));
}

}  // namespace strata::cuda
