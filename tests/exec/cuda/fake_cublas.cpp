#include "tests/exec/cuda/fake_cublas.h"

#include <cstddef>
#include <utility>

namespace strata::cuda {
namespace {

cublasStatus_t unless(CublasCall call) {
  return fake_cublas().refused == call ? fake_cublas().refusal : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t make_handle(cublasHandle_t* to) {
  static char somewhere = 0;
  ++fake_cublas().handles;
  *to = reinterpret_cast<cublasHandle_t>(&somewhere);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroy_handle(cublasHandle_t) {
  --fake_cublas().handles;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_multiprocessors(cublasHandle_t, int count) {
  fake_cublas().multiprocessors = count;
  return unless(CublasCall::set_multiprocessors);
}

}  // namespace

// The library's functions have no place for state.
FakeCublas& fake_cublas() {
  static FakeCublas one;
  return one;
}

std::unique_ptr<CublasSeat> made_up_cublas(Seat& seat) {
  auto cublas = std::make_unique<Cublas>();
  cublas->create = make_handle;
  cublas->destroy = destroy_handle;
  cublas->set_stream = [](cublasHandle_t, cudaStream_t) { return unless(CublasCall::set_stream); };
  cublas->set_workspace = [](cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; };
  cublas->set_math_mode = [](cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; };
  cublas->set_multiprocessors = set_multiprocessors;
  cublas->multiply = [](cublasHandle_t, cublasOperation_t, cublasOperation_t, std::int64_t,
                        std::int64_t, std::int64_t, const void*, const void*, cudaDataType,
                        std::int64_t, const void*, cudaDataType, std::int64_t, const void* kept,
                        void*, cudaDataType, std::int64_t, cublasComputeType_t, cublasGemmAlgo_t) {
    fake_cublas().kept = *static_cast<const float*>(kept);
    return unless(CublasCall::multiply);
  };
  return std::make_unique<CublasSeat>(seat, std::move(cublas));
}

}  // namespace strata::cuda
