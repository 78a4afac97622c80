#pragma once

// What the tasks of one run do to buffers, on streams: as TaskWork, but a buffer is given back with
// the pieces of work that use it last. Not thread-safe.

#include <vector>

#include "exec/cuda/run/cuda_backend.h"
#include "exec/runtime/executor.h"
#include "exec/runtime/task_work.h"

namespace strata::cuda {

class StreamWork : public TaskWork {
 public:
  StreamWork(Executor& executor, CudaBackend& backend, std::size_t steps, const BatchOf& batch_of);

  /// The task is this piece of work; its buffers have one user less.
  void issued(Turn turn, Ticket ticket);
  /// `loss_shift_bytes`: see StepState.
  void begin_step(std::uint32_t step, std::int64_t loss_shift_bytes = 0);
  /// Throws where one is not finite. The devices must be done.
  void check_losses();

 private:
  void release(BufferId id, void* memory) override;

  const Executor& executor_;
  const Program& program_;
  CudaBackend& backend_;
  std::vector<std::vector<Ticket>> users_;  // by buffer: since it was made
};

}  // namespace strata::cuda
