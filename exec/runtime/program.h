#pragma once

// What an executor looks up of a plan beside the operands of its tasks. The same on every kind of
// device and in every process. Immutable once made; thread-safe to read.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/runtime/kernel.h"
#include "sim/base/index.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"

namespace strata {

/// How a task puts its output, or the gradient of that, together from what others made.
enum class PartsSum : std::uint8_t {
  none,      ///< it finds it
  whole,     ///< each part is the same box
  covering,  ///< each part holds all of it, some among more
  disjoint,  ///< each element is in exactly one part
  overlapping
};

/// What a compute task of the phase puts together where it adds up.
constexpr Role summed_role(Phase phase) {
  return phase == Phase::forward_sum ? Role::output : Role::output_gradient;
}

/// One shard's kernel, of all rounds.
struct ProgramKernel {
  DeviceId device;
  ShardSpec spec;  ///< its graph, seed and training are the run's to set
  std::uint32_t shard = 0;
};

/// Where some of a shard's parameters lie.
struct ParameterPart {
  BufferId buffer;
  std::int64_t first = 0;  ///< in the buffer
  Interval values;         ///< of the shard's
};

class Program {
 public:
  /// `plan` must be runnable(), without merged products, and lowered from `graph`; both must
  /// outlive it.
  Program(const Graph& graph, const Plan& plan);

  std::span<const ProgramKernel> kernels() const { return kernels_; }
  /// Which of these a compute task's is.
  std::size_t kernel(const Task& task) const { return first_kernel_[task.layer()] + task.shard; }
  /// Of a compute task with a kernel: the first forward or the first backward one of its shard in
  /// its round, and the first that computes again.
  bool is_head(TaskId task) const { return is_head_[task()]; }
  PartsSum parts_sum(TaskId task) const { return sums_[task()]; }
  /// The moves that parts_sum() is of, which come first; the others are copies.
  std::span<const Piece> parts(TaskId task) const;
  /// Buffers with a network's data that a forward head reads.
  std::vector<BufferId> data(TaskId task) const;
  /// Buffers that are done with when the task and all their other last users have ended.
  std::span<const BufferId> releases(TaskId task) const {
    return std::span(releases_).subspan(release_ends_[task()],
                                        release_ends_[task() + 1] - release_ends_[task()]);
  }
  /// Not given back in each step: parameters, and data, which several steps may read.
  bool stays(BufferId buffer) const {
    return plan_[buffer].lasts() || plan_[buffer].kind == BufferKind::data;
  }
  /// The shard's parameters: none where it has none; parts that lie on several devices where
  /// replicas share them.
  std::span<const ParameterPart> parameters(LayerId layer, std::size_t shard) const;
  /// What an update of a bucket's interval updates of the shards on its device.
  struct UpdatedPart {
    LayerId layer;
    std::uint32_t shard = 0;
    Interval values;         ///< of the shard's
    std::int64_t first = 0;  ///< in the interval
  };
  std::vector<UpdatedPart> updated(TaskId update) const;

 private:
  void add_kernels();
  void add_kernel(TaskId forward);
  void find_heads();
  std::vector<ParameterPart> find_parameters(const Task& forward, const Operand& operand) const;
  PartsSum find_sum(TaskId task) const;
  BufferId summed(TaskId task) const;
  void find_releases();

  const Graph& graph_;
  const Plan& plan_;
  std::vector<ProgramKernel> kernels_;
  std::vector<std::size_t> first_kernel_;               // by layer
  std::vector<std::vector<ParameterPart>> parameters_;  // by kernel
  std::vector<bool> is_head_;                           // by task
  std::vector<PartsSum> sums_;                          // by task
  std::vector<std::uint32_t> release_ends_;
  std::vector<BufferId> releases_;
};

/// Whether tasks of the plan run beside what their device computes, as with copy engines. Who does
/// one task of a device after the other can't run it.
bool uses_copy_engines(const Plan& plan);

}  // namespace strata
