#pragma once

// The handles of cuDNN and cuBLAS that belong to a seat, each made when it is first used, bound to
// the seat's stream. Not thread-safe.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/cuda/products/choice_file.h"
#include "exec/cuda/products/cublas.h"
#include "exec/cuda/products/cudnn.h"
#include "exec/cuda/products/cudnn_graph.h"
#include "exec/cuda/streams/seat.h"

namespace strata::cuda {

/// What came of a product: its plan, as long as somebody has it, or why it has none.
struct KeptPlan {
  std::weak_ptr<const ConvolutionPlan> plan;
  std::string refusal;
};

/// How an engine is found for a product that has none yet, as the environment says.
struct EngineSearch {
  /// By time, unless STRATA_CUDA_ENGINES is "first" and not "timed": then the first that runs.
  bool timed = true;
  /// A line on stderr for each product, where STRATA_CUDA_PROGRESS is "1" and not "0".
  bool progress = false;
  /// Only those that agree with plain loops (engine_check.h).
  bool checked = true;
};

/// Throws InputError where a variable says anything else.
EngineSearch engine_search();

class CudnnSeat {
 public:
  explicit CudnnSeat(Seat& seat,
                     std::unique_ptr<const Cudnn> cudnn = std::make_unique<const Cudnn>());
  /// Of a GPU that need not be there: plans are made for it that can't be run.
  CudnnSeat(Seat& seat, std::unique_ptr<const Cudnn> cudnn, const Gpu& described,
            ChoiceFile choices, const EngineSearch& search);
  ~CudnnSeat();
  CudnnSeat(const CudnnSeat&) = delete;
  CudnnSeat& operator=(const CudnnSeat&) = delete;

  const Cudnn& cudnn() const { return *cudnn_; }
  cudnnHandle_t handle() const { return handle_; }
  const PlanTarget& target() const { return *target_; }
  ChoiceFile& choices() { return choices_; }
  const EngineSearch& search() const { return search_; }
  /// By product, as show() names it.
  std::map<std::string, KeptPlan>& plans() { return plans_; }
  /// "NVIDIA H200, 32 of 132 multiprocessors, cuDNN 91900": what a choice is good for.
  const std::string& title() const { return title_; }

 private:
  /// Its handle goes where what comes after is refused.
  CudnnSeat(std::unique_ptr<const Cudnn> cudnn, int gpu);

  std::unique_ptr<const Cudnn> cudnn_;
  cudnnHandle_t handle_ = nullptr;
  std::optional<PlanTarget> target_;
  ChoiceFile choices_;
  EngineSearch search_ = engine_search();
  std::map<std::string, KeptPlan> plans_;
  std::string title_;
};

class CublasSeat {
 public:
  explicit CublasSeat(Seat& seat,
                      std::unique_ptr<const Cublas> cublas = std::make_unique<const Cublas>());
  ~CublasSeat();
  CublasSeat(const CublasSeat&) = delete;
  CublasSeat& operator=(const CublasSeat&) = delete;

  const Cublas& cublas() const { return *cublas_; }
  cublasHandle_t handle() const { return handle_; }

 private:
  CublasSeat(std::unique_ptr<const Cublas> cublas, int gpu);

  std::unique_ptr<const Cublas> cublas_;
  LastingMemory workspace_;
  cublasHandle_t handle_ = nullptr;
};

/// The seat's own. Throws EnvironmentError where a library is not there or not able.
CudnnSeat& cudnn_of(Seat& seat);
CublasSeat& cublas_of(Seat& seat);
/// In place of what would be made. Precondition: nobody has asked for the seat's own.
void use_cudnn(Seat& seat, std::unique_ptr<CudnnSeat> cudnn);
void use_cublas(Seat& seat, std::unique_ptr<CublasSeat> cublas);

}  // namespace strata::cuda
