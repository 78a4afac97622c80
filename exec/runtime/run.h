#pragma once

// One call of Executor::run(): the threads of the devices and what changes while they work.
// Internal to exec/runtime.

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "exec/runtime/dispatcher.h"
#include "exec/runtime/executor.h"

namespace strata {

class Run {
 public:
  Run(Executor& executor, std::size_t steps, const BatchOf& batch_of,
      const std::atomic<bool>* cancelled);
  Execution execute();

 private:
  // run.cpp: threads and order
  void work(DeviceId device);
  std::optional<Turn> next(DeviceId device);
  bool may_go_on(DeviceId device) const;
  void finish(Turn turn, Seconds start, Seconds end);
  void stop(std::exception_ptr error);
  std::string name_of(Turn turn) const;
  Seconds now() const;
  Span& span(Turn turn) { return spans_[turn.step * plan_.size() + turn.task()]; }
  Execution result();

  // run_task.cpp: what a task does
  void run_task(Turn turn);
  bool is_wanted(const Task& task) const;
  void do_task(Turn turn);
  void compute(Turn turn);
  void move(TaskId id);
  void reduce(TaskId id);
  void gather(TaskId id);
  void sum_gradient(const GradientSum& sum);
  void load_inputs(const TaskProgram& task, std::uint32_t step);
  void add_to_gradient(const TaskProgram& task);
  Kernel& kernel(const TaskProgram& task);
  Region region(Slot slot);
  float* values_of(BufferId id);
  void* ready(BufferId id);
  void let_go(TaskId id);
  void count(const Task& task, Bytes bytes);
  void keep_loss(Turn turn, const LossPart& part);

  Executor& executor_;
  const Graph& graph_;
  const Plan& plan_;
  const Program& program_;
  Backend& backend_;
  std::size_t steps_;
  const std::atomic<bool>* cancelled_;
  std::vector<Batch> batches_;               // by step
  std::vector<StepContext> contexts_;        // by step
  std::vector<std::size_t> input_ordinals_;  // by layer: which of a batch's inputs
  std::vector<LossPart> losses_;             // by step and loss shard
  std::vector<std::size_t> loss_index_;      // by kernel: which loss shard
  std::size_t loss_shards_ = 0;
  std::vector<std::atomic<std::uint32_t>> users_;  // by buffer: who has not let go
  std::vector<std::atomic<std::int64_t>> moved_;   // transfer, sync, statistics
  std::vector<Span> spans_;
  std::chrono::steady_clock::time_point begin_;

  std::mutex mutex_;  // the members below
  Dispatcher dispatcher_;
  std::vector<std::condition_variable> turns_;  // by device
  std::exception_ptr error_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace strata
