#pragma once

// The Plan on streams: one host thread puts a run's tasks on their devices' streams in plan order,
// step after step, far ahead of the GPUs. A stream waits for what another one does only where the
// plan says so, or where memory changes hands. Nothing is synchronised inside a step.

#include <atomic>
#include <vector>

#include "exec/cuda/cuda_backend.h"
#include "exec/runtime/executor.h"
#include "exec/runtime/task_work.h"

namespace strata::cuda {

class StreamWork : public TaskWork {
 public:
  StreamWork(Executor& executor, CudaBackend& backend, std::size_t steps, const BatchOf& batch_of);

  /// The task is this piece of work; its buffers have one user less.
  void issued(Turn turn, Ticket ticket);
  void begin_step(std::uint32_t step);
  /// Throws where one is not finite. The devices must be done.
  void check_losses();

 private:
  void release(BufferId id, void* memory) override;

  const Program& program_;
  CudaBackend& backend_;
  std::vector<std::vector<Ticket>> users_;  // by buffer: since it was made
};

class StreamRun {
 public:
  StreamRun(Executor& executor, const Plan& plan, CudaBackend& backend, std::size_t steps,
            const BatchOf& batch_of, const std::atomic<bool>* cancelled);
  ~StreamRun();
  Execution execute();

 private:
  void issue(Turn turn);
  void wait_for(Turn turn, std::uint32_t stream);
  Ticket& ticket(std::uint32_t step, TaskId task) {
    return tickets_[step % 2 * plan_.size() + task()];
  }
  std::vector<Span> spans() const;

  /// A task's time on its stream.
  struct Times {
    Event start, end;
  };

  const Plan& plan_;
  CudaBackend& backend_;
  StreamWork work_;
  std::size_t steps_;
  const std::atomic<bool>* cancelled_;
  std::vector<Ticket> tickets_;  // of two steps
  std::vector<Event> begin_;     // by device
  std::vector<Times> times_;     // by step and task
};

/// An Executor whose runs are StreamRuns.
class StreamExecutor {
 public:
  StreamExecutor(const Graph& graph, const Plan& plan, CudaBackend& backend,
                 const ExecutionOptions& options)
      : plan_(plan), backend_(backend), executor_(graph, plan, backend, options) {}

  void set_parameters(LayerId layer, std::span<const float> whole) {
    executor_.set_parameters(layer, whole);
  }
  std::vector<float> parameters(LayerId layer) const { return executor_.parameters(layer); }
  std::vector<float> gradients(LayerId layer) const { return executor_.gradients(layer); }
  /// As Executor::run().
  Execution run(std::size_t steps, const BatchOf& batch_of, const std::atomic<bool>* cancelled);

 private:
  const Plan& plan_;
  CudaBackend& backend_;
  Executor executor_;
};

}  // namespace strata::cuda
