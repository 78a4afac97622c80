// Products by cuDNN and cuBLAS. What cuDNN has no engine for is left to plain loops.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "exec/cuda/device/check.h"
#include "exec/cuda/products/direct_convolution.h"
#include "exec/cuda/products/sample_products.h"
#include "exec/cuda/products/tuned_plan.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

cudaDataType_t cuda_type(Type type) {
  return type == Type::fp32 ? CUDA_R_32F : CUDA_R_16BF;
}

// Of these sizes engines for tensor cores take products, and a part of a GPU has enough to do.
constexpr std::int64_t kSamples = 8, kChannels = 64, kImage = 28, kRows = 1024;

void try_convolution(Seat& seat) {
  const ConvolutionShape shape = square_convolution(kSamples, kChannels, kImage);
  ConvolutionProduct product(seat, shape, Direction::forward);
  if (!seat.plain_loops().empty()) throw EnvironmentError("cuDNN: " + seat.plain_loops().back());
  const ConvolutionTensors tensors(seat, shape, product.workspace());
  product.run(tensors.lent());
  seat.stream().finish();
}

}  // namespace

struct ConvolutionProduct::Body {
  Seat& seat;
  ConvolutionShape shape;
  Direction direction;
  std::shared_ptr<const ConvolutionPlan> plan;
};

ConvolutionProduct::ConvolutionProduct(Seat& seat, const ConvolutionShape& shape,
                                       Direction direction)
    : body_(new Body{seat, shape, direction, {}}) {
  TunedPlan tuned = tuned_plan(seat, shape, direction);
  body_->plan = std::move(tuned.plan);
  if (!body_->plan) seat.add_plain_loops(std::move(tuned.refusal));
}
ConvolutionProduct::~ConvolutionProduct() = default;

std::int64_t ConvolutionProduct::workspace() const {
  return body_->plan ? body_->plan->workspace() : 0;
}

void ConvolutionProduct::run(const ConvolutionMemory& memory) {
  Seat& seat = body_->seat;
  if (!body_->plan) {
    convolve_directly(body_->shape, body_->direction, memory, seat.type(), seat.stream());
    return;
  }
  use_gpu(seat.gpu());
  body_->plan->run(cudnn_of(seat).handle(), memory);
}

// The library's matrices lie column by column: in its eyes all are transposed, and
// product^T = b^T a^T.
void multiply(Seat& seat, const Matrix& a, const Matrix& b, void* product, Type to, bool adds) {
  use_gpu(seat.gpu());
  const CublasSeat& library = cublas_of(seat);
  const auto operation = [](const Matrix& it) { return it.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto length = [](const Matrix& it) { return it.transposed ? it.rows : it.columns; };
  const auto compute =
      seat.precision() == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const float one = 1, kept = adds ? 1 : 0;
  const cudaDataType_t type = cuda_type(seat.type());
  library.cublas().check(
      library.cublas().multiply(library.handle(), operation(b), operation(a), b.columns, a.rows,
                                a.columns, &one, b.data, type, length(b), a.data, type, length(a),
                                &kept, product, cuda_type(to), b.columns, compute,
                                CUBLAS_GEMM_DEFAULT),
      "multiplying matrices");
}

void try_products(Seat& seat) {
  try_convolution(seat);
  SquareMatrices(seat, kRows).multiply();
}

}  // namespace strata::cuda
