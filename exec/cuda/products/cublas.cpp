#include "exec/cuda/products/cublas.h"

#include <fmt/format.h>

#include "exec/cuda/device/out_of_memory.h"

namespace strata::cuda {

void Cublas::check(cublasStatus_t status, std::string_view doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_refusal("cuBLAS", fmt::format("cuBLAS: {}: {}", doing, status_string(status)),
                status == CUBLAS_STATUS_ALLOC_FAILED);
}

}  // namespace strata::cuda
