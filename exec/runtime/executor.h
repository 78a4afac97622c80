#pragma once

// The second interpreter of the Plan: runs its tasks for real, one thread a device, and says when
// each was ready, started and ended. Device threads live as long as a call of run(); what devices
// hold (parameters) lives as long as the Executor. Not thread-safe.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "exec/runtime/backend.h"
#include "exec/runtime/program.h"
#include "sim/base/error.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

class Run;

/// One step's data: of every network input its whole tensor, row-major (n, c, d, h, w), in the
/// order of the graph, and a label for every sample. Equal numbers mean equal data: a device that
/// holds a batch already does not load it again.
struct Batch {
  std::uint64_t number = 0;
  std::vector<std::span<const float>> inputs;
  std::span<const std::int64_t> labels;
};

/// A run that went wrong: a loss that is no number. Exit code 1.
class RunFailed : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 1; }
};

struct ExecutorOptions {
  float learning_rate = 0.01F;
  std::uint64_t seed = 0;       ///< of the dropout masks
  bool training = true;         ///< false: dropout passes everything
  bool keep_gradients = false;  ///< of the parameters, of the last step: gradients()
};

/// What a run has done. Bytes are those that were copied between devices, counted as they were.
struct Execution {
  Timeline timeline;
  std::vector<double> losses;         ///< by step
  std::vector<std::int64_t> correct;  ///< by step: samples whose label has the largest logit
  Communication moved;
};

class Executor {
 public:
  /// The graph, the plan and the backend must outlive it. Throws EnvironmentError.
  Executor(const Graph& graph, const Plan& plan, Backend& backend,
           const ExecutorOptions& options = {});
  ~Executor();

  /// Weight then bias of a whole layer, in the orders of Operands::parameters.
  void set_parameters(LayerId layer, std::span<const float> whole);
  std::vector<float> parameters(LayerId layer) const;
  /// Of the last step of the last run. Empty without keep_gradients, or where there is none.
  std::vector<float> gradients(LayerId layer) const { return gradients_[layer()]; }

  using BatchOf = std::function<Batch(std::uint64_t step)>;
  /// Steps count on from the runs before. `cancelled` may be null. Throws Cancelled, or the first
  /// error of a device with the task's name; the Executor is then of no more use.
  Execution run(std::size_t steps, const BatchOf& batch_of,
                const std::atomic<bool>* cancelled = nullptr);

 private:
  friend class Run;
  std::int64_t bytes(BufferId id) const;
  void* allocate(BufferId id);
  void keep_gradient(const Task& task, const float* gradients);
  float* values(BufferId id) const { return static_cast<float*>(memory_[id()]); }

  const Graph& graph_;
  const Plan& plan_;
  Backend& backend_;
  ExecutorOptions options_;
  Program program_;
  std::vector<void*> memory_;                     // by buffer; null where it is not there
  std::vector<std::unique_ptr<Kernel>> kernels_;  // by kernel; made on their device's thread
  std::vector<std::uint64_t> loaded_;             // by buffer of a network input: 1 + the batch
  std::vector<std::vector<float>> gradients_;     // by layer
  std::uint64_t steps_done_ = 0;
};

}  // namespace strata
