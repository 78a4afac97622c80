#include "exec/cuda/seat_libraries.h"

#include <fmt/format.h>

#include "exec/cuda/check.h"

namespace strata::cuda {
namespace {

// What NVIDIA advises for Hopper; other GPUs need less.
constexpr std::int64_t kCublasWorkspace = std::int64_t{32} << 20U;

struct SeatLibraries {
  std::optional<CudnnSeat> cudnn;
  std::optional<CublasSeat> cublas;
};

SeatLibraries& libraries_of(Seat& seat) {
  if (!seat.libraries()) seat.libraries() = std::make_shared<SeatLibraries>();
  return *static_cast<SeatLibraries*>(seat.libraries().get());
}

cudaStream_t stream_of(Seat& seat) {
  return static_cast<cudaStream_t>(seat.stream().handle());
}

}  // namespace

CudnnSeat::CudnnSeat(Seat& seat) : choices_(ChoiceFile::usual_path()) {
  const OnGpu on(seat.gpu());
  cudnn_.check(cudnn_.create(&handle_), "beginning to use a GPU");
  cudnn_.check(cudnn_.set_stream(handle_, stream_of(seat)), "choosing a stream");
  target_.emplace(cudnn_, handle_);
  const Gpu gpu = gpus().at(static_cast<std::size_t>(seat.gpu()));
  title_ = fmt::format("{}, {} multiprocessors, cuDNN {}", gpu.name, gpu.multiprocessors,
                       cudnn_.version());
}

CudnnSeat::~CudnnSeat() {
  if (handle_ != nullptr) cudnn_.destroy(handle_);
}

// Choosing a stream takes the workspace away, so that comes after.
CublasSeat::CublasSeat(Seat& seat) : workspace_(seat.gpu(), kCublasWorkspace) {
  const OnGpu on(seat.gpu());
  cublas_.check(cublas_.create(&handle_), "beginning to use a GPU");
  cublas_.check(cublas_.set_stream(handle_, stream_of(seat)), "choosing a stream");
  cublas_.check(cublas_.set_workspace(handle_, workspace_.data(),
                                      static_cast<std::size_t>(workspace_.bytes())),
                "lending a workspace");
  const auto mode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  cublas_.check(cublas_.set_math_mode(handle_, static_cast<cublasMath_t>(mode)),
                "asking for sums in fp32");
}

CublasSeat::~CublasSeat() {
  if (handle_ != nullptr) cublas_.destroy(handle_);
}

CudnnSeat& cudnn_of(Seat& seat) {
  auto& cudnn = libraries_of(seat).cudnn;
  return cudnn ? *cudnn : cudnn.emplace(seat);
}

CublasSeat& cublas_of(Seat& seat) {
  auto& cublas = libraries_of(seat).cublas;
  return cublas ? *cublas : cublas.emplace(seat);
}

}  // namespace strata::cuda
