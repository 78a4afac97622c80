#pragma once

// What the tasks of one run do to the buffers: kernels, copies within a device and between devices
// that share memory, sums. Whose turn it is, who calls it knows. Tasks of different devices may run
// at once. Internal to the executors.

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/runtime/executor.h"
#include "exec/runtime/turns.h"

namespace strata {

/// A loss that is infinite or no number.
class LossNotFinite : public RunFailed {
 public:
  using RunFailed::RunFailed;
};

class TaskWork {
 public:
  TaskWork(Executor& executor, std::size_t steps, const BatchOf& batch_of);
  virtual ~TaskWork() = default;

  /// All of a task, whose buffers must all lie in this process; not of a collective.
  void run(Turn turn);

  // The pieces of it, for tasks that hear from other processes or wait for other streams.
  /// All but letting go of its buffers.
  void perform(Turn turn);
  /// Of perform(), what depends on the step's data: network inputs that are not there yet.
  void load(Turn turn);
  bool has_network_inputs(TaskId task) const { return !program_.data(task).empty(); }
  /// Without training a step ends with the loss.
  bool is_wanted(TaskId task) const;
  void compute(Turn turn);
  Region region(View view);
  float* values_of(BufferId id);
  /// What the group's participant k brings.
  float* brought(const Group& group, std::size_t k) {
    return values_of(group.buffers[k]) + group.first;
  }
  /// Gives back the buffers that nobody uses after this task.
  void let_go(TaskId task);
  void count(TaskId task, std::int64_t values);

  /// "step 3: layer conv1: forward, shard 0 on cpu0"; of several rounds
  /// "step 3: layer conv1: forward, round 2, shard 0 on cpu0".
  std::string name_of(Turn turn) const;
  /// The same without the step.
  std::string name_of(TaskId task) const;
  /// Throws it anew, with what was first not finite (not_finite.h) of this step's data, parameters
  /// and outputs. No device may be at work.
  [[noreturn]] void explain(const LossNotFinite& error) const;
  /// By step, then by round, then by shard of the loss layers; bytes of transfers, synchronisation,
  /// statistics.
  std::span<LossPart> losses() { return losses_; }
  /// The first of the step's.
  LossPart* losses_of(std::uint32_t step) { return losses_.data() + step * losses_of_step(); }
  std::vector<std::atomic<std::int64_t>>& moved() { return moved_; }
  /// All that was kept, with the spans that the caller kept.
  Execution result(std::vector<Span> spans) const;

 protected:
  /// Nobody uses the buffer's memory any more.
  virtual void release(BufferId id, void* memory);
  /// With the labels of all rounds.
  StepContext context(std::uint32_t step) const;
  /// Throws LossNotFinite.
  static void check_finite(const LossPart& part);

 private:
  void update_interval(Turn turn);
  void show_before(TaskId id, const Operands& operands);
  void show_sum(TaskId id);
  void show(TensorRole role, const Task& task, const Region& region);
  void show_values(TensorRole role, HeldShard of, float* values);
  void move(TaskId id);
  void reduce(TaskId id);
  void gather(TaskId id);
  void put_together(Turn turn);
  void sum_parts(TaskId id);
  void add_batch(Batch batch, std::uint64_t number);
  void load_inputs(Turn turn);
  std::vector<Region> regions(TaskId id, Role role);
  /// Its buffer is invalid where the task has none.
  Operand find(TaskId id, Role role) const;
  Kernel& kernel(TaskId id);
  void* ready(BufferId id);
  LossPart* loss_of(Turn turn);
  std::size_t losses_of_step() const { return plan_.rounds() * loss_shards_; }
  const StepContext& context_of(Turn turn) const {
    return contexts_[turn.step * plan_.rounds() + plan_[turn.task].round];
  }

  Executor& executor_;
  const Graph& graph_;
  const Plan& plan_;
  const Program& program_;
  Backend& backend_;
  std::size_t steps_;
  std::vector<Batch> batches_;               // by step
  std::vector<StepContext> contexts_;        // by step and round
  std::vector<std::size_t> input_ordinals_;  // by layer: which of a batch's inputs
  std::shared_ptr<void> loss_memory_;        // of the backend's, which kernels write to
  std::span<LossPart> losses_;               // in it, by step, round and loss shard
  std::vector<std::size_t> loss_index_;      // by kernel: which loss shard
  std::size_t loss_shards_ = 0;
  std::vector<std::atomic<std::uint32_t>> users_;  // by buffer: who has not let go
  std::vector<std::atomic<std::int64_t>> moved_;   // transfer, sync, statistics
};

}  // namespace strata
