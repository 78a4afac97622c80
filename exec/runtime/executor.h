#pragma once

// The second interpreter of the Plan: runs its tasks for real, one thread a device, and says when
// each was ready, started and ended. Device threads live as long as a call of run(); what devices
// hold (parameters) lives as long as the Executor. Not thread-safe.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exec/runtime/backend.h"
#include "exec/runtime/program.h"
#include "sim/base/error.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/execution.h"

namespace strata {

class Run;

class Executor {
 public:
  /// The graph, the plan and the backend must outlive it. Throws EnvironmentError.
  /// `only`: the one device whose buffers it holds, where other processes hold the others'; run()
  /// is then not for it, and of whole layers it knows its own device's shards.
  Executor(const Graph& graph, const Plan& plan, Backend& backend,
           const ExecutionOptions& options = {}, DeviceId only = {});
  ~Executor();

  /// Weight then bias of a whole layer, in the orders of Operands::parameters. A layer that shares
  /// another's has none of its own: where it holds a copy, that is the other's, too.
  void set_parameters(LayerId layer, std::span<const float> whole);
  std::vector<float> parameters(LayerId layer) const;
  /// Of the last step of the last run. Empty without keep_gradients, or where there is none.
  std::vector<float> gradients(LayerId layer) const { return gradients_[layer()]; }

  /// Steps count on from the runs before; a batch has the samples of all rounds of the plan, one
  /// after another (Plan::rounds()). `cancelled` may be null. Throws Cancelled, or the first
  /// error of a device with the task's name; the Executor is then of no more use.
  Execution run(std::size_t steps, const BatchOf& batch_of,
                const std::atomic<bool>* cancelled = nullptr);
  /// For a caller that walks the tasks itself, before and after.
  void before_run();
  void after_run(std::size_t steps) { steps_done_ += steps; }

  const Plan& plan() const { return plan_; }
  const Program& program() const { return program_; }
  /// By parameter of the whole layer: whether a device of this process has it.
  std::vector<bool> holds(LayerId layer) const;
  bool holds(BufferId id) const { return !only_.valid() || plan_[id].device == only_; }

 private:
  friend class Run;
  friend class TaskWork;
  void allocate_lasting();
  void release_all();
  std::int64_t bytes(BufferId id) const;
  void* allocate(BufferId id);
  void set_shards(LayerId layer, std::span<const float> whole);
  void keep_gradient(const Task& task, const float* gradients);
  /// Of what an interval's update updates.
  void keep_interval(TaskId update, const float* gradients);
  bool holds_some(LayerId layer, std::size_t shard) const;
  template <class ValuesOf>
  void with_parts(LayerId layer, std::size_t shard, std::vector<float>& whole,
                  const ValuesOf& values_of) const;
  /// Of a device's values, a copy.
  std::vector<float> on_host(const float* values, std::int64_t count) const;
  float* values(BufferId id) const { return static_cast<float*>(memory_[id()]); }

  const Graph& graph_;
  const Plan& plan_;
  Backend& backend_;
  ExecutionOptions options_;
  DeviceId only_;  // invalid: all
  Program program_;
  std::vector<void*> memory_;                     // by buffer; null where it is not there
  std::vector<std::unique_ptr<Kernel>> kernels_;  // by kernel; made on their device's thread
  std::vector<std::uint64_t> loaded_;             // by buffer of a network input: 1 + the part
                                                  // of which batch, counted over all rounds
  std::mutex gradients_mutex_;                    // while a run writes:
  std::vector<std::vector<float>> gradients_;     // by layer
  std::uint64_t steps_done_ = 0;
};

}  // namespace strata
