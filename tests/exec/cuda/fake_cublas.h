#pragma once

// cuBLAS without a GPU: its functions do nothing, and one of them may refuse. Not thread-safe.

#include <cstdint>
#include <memory>

#include "exec/cuda/products/seat_libraries.h"

namespace strata::cuda {

enum class CublasCall : std::uint8_t { none, set_stream, set_multiprocessors, multiply };

struct FakeCublas {
  CublasCall refused = CublasCall::none;
  cublasStatus_t refusal = CUBLAS_STATUS_EXECUTION_FAILED;
  int multiprocessors = 0;  ///< that it was told of last
  int handles = 0;          ///< made and not destroyed
  float kept = 0;           ///< of what lay there, by the last product
};

/// Of all seats.
FakeCublas& fake_cublas();

/// Throws EnvironmentError where that is refused.
std::unique_ptr<CublasSeat> made_up_cublas(Seat& seat);

}  // namespace strata::cuda
