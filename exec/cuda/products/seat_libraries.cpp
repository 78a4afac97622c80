#include "exec/cuda/products/seat_libraries.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/native.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

// What NVIDIA advises for Hopper; other GPUs need less.
constexpr std::int64_t kCublasWorkspace = std::int64_t{32} << 20U;

struct SeatLibraries {
  std::unique_ptr<CudnnSeat> cudnn;
  std::unique_ptr<CublasSeat> cublas;
};

SeatLibraries& libraries_of(Seat& seat) {
  if (!seat.libraries()) seat.libraries() = std::make_shared<SeatLibraries>();
  return *static_cast<SeatLibraries*>(seat.libraries().get());
}

/// Those that its kernels find: who shares them is another matter.
std::string describe(const GpuPart& part) {
  if (part.kind != GpuPartKind::green) {
    return fmt::format("{} multiprocessors", part.of);
  }
  return fmt::format("{} of {} multiprocessors", part.multiprocessors, part.of);
}

/// "NVIDIA H200, 32 of 132 multiprocessors, cuDNN 91900".
std::string title_of(const Gpu& gpu, const GpuPart& part, const Cudnn& cudnn) {
  return fmt::format("{}, {}, cuDNN {}", gpu.name, describe(part), cudnn.version());
}

/// Whether a variable has the second of its two values; the first is meant where it is not set.
bool is_second(const char* variable, std::string_view first, std::string_view second) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || text == first) return false;
  if (text == second) return true;
  throw InputError(fmt::format("{}={}: allowed: {}, {}", variable, text, first, second));
}

}  // namespace

EngineSearch engine_search() {
  return {!is_second("STRATA_CUDA_ENGINES", "timed", "first"),
          is_second("STRATA_CUDA_PROGRESS", "0", "1")};
}

// The library plans for a whole GPU: heuristics that are told of 64 or 32 of an H200's
// multiprocessors (CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET) propose nothing, and an engine that is
// (CUDNN_ATTR_ENGINE_SM_COUNT_TARGET) takes no config, as of cuDNN 9.19. What is the fastest of its
// proposals on the seat's stream is measured (tuned_plan.h).
CudnnSeat::CudnnSeat(Seat& seat, std::unique_ptr<const Cudnn> cudnn)
    : CudnnSeat(std::move(cudnn), seat.gpu()) {
  cudnn_->check(cudnn_->set_stream(handle_, native(seat.stream())), "choosing a stream");
  target_.emplace(*cudnn_, handle_);
  const Gpu gpu = gpus().at(static_cast<std::size_t>(seat.gpu()));
  title_ = title_of(gpu, seat.part(), *cudnn_);
}

CudnnSeat::CudnnSeat(std::unique_ptr<const Cudnn> cudnn, int gpu)
    : cudnn_(std::move(cudnn)), choices_(ChoiceFile::usual_path()) {
  use_gpu(gpu);
  cudnn_->check(cudnn_->create(&handle_), "beginning to use a GPU");
}

CudnnSeat::CudnnSeat(Seat& seat, std::unique_ptr<const Cudnn> cudnn, const Gpu& described,
                     ChoiceFile choices, const EngineSearch& search)
    : cudnn_(std::move(cudnn)),
      target_(std::in_place, *cudnn_, described),
      choices_(std::move(choices)),
      search_(search),
      title_(title_of(described, seat.part(), *cudnn_)) {}

CudnnSeat::~CudnnSeat() {
  if (handle_ != nullptr) cudnn_->destroy(handle_);
}

CublasSeat::CublasSeat(std::unique_ptr<const Cublas> cublas, int gpu)
    : cublas_(std::move(cublas)), workspace_(gpu, kCublasWorkspace) {
  use_gpu(gpu);
  cublas_->check(cublas_->create(&handle_), "beginning to use a GPU");
}

// Choosing a stream takes the workspace away, so that comes after.
CublasSeat::CublasSeat(Seat& seat, std::unique_ptr<const Cublas> cublas)
    : CublasSeat(std::move(cublas), seat.gpu()) {
  cublas_->check(cublas_->set_stream(handle_, native(seat.stream())), "choosing a stream");
  cublas_->check(cublas_->set_workspace(handle_, workspace_.data(),
                                        static_cast<std::size_t>(workspace_.bytes())),
                 "lending a workspace");
  const auto mode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  cublas_->check(cublas_->set_math_mode(handle_, static_cast<cublasMath_t>(mode)),
                 "asking for sums in fp32");
  if (seat.part().kind == GpuPartKind::green) {
    cublas_->check(cublas_->set_multiprocessors(handle_, seat.part().multiprocessors),
                   "telling of multiprocessors");
  }
}

CublasSeat::~CublasSeat() {
  if (handle_ != nullptr) cublas_->destroy(handle_);
}

CudnnSeat& cudnn_of(Seat& seat) {
  auto& cudnn = libraries_of(seat).cudnn;
  if (!cudnn) cudnn = std::make_unique<CudnnSeat>(seat);
  return *cudnn;
}

void use_cudnn(Seat& seat, std::unique_ptr<CudnnSeat> cudnn) {
  libraries_of(seat).cudnn = std::move(cudnn);
}

void use_cublas(Seat& seat, std::unique_ptr<CublasSeat> cublas) {
  libraries_of(seat).cublas = std::move(cublas);
}

CublasSeat& cublas_of(Seat& seat) {
  auto& cublas = libraries_of(seat).cublas;
  if (!cublas) cublas = std::make_unique<CublasSeat>(seat);
  return *cublas;
}

}  // namespace strata::cuda
