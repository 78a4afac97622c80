#pragma once

// The Plan bound to buffers: for every task, which memory it works on and what it copies first.
// Follows from the Plan and the Graph alone, the same on every kind of device; a rank of several
// processes binds the same program. Immutable once bound; thread-safe to read.

#include <cstdint>
#include <vector>

#include "exec/runtime/kernel.h"
#include "sim/base/index.h"
#include "sim/graph/graph.h"
#include "sim/graph/ops/facts.h"
#include "sim/plan/plan.h"

namespace strata {

using BufferId = Index<struct ProgramBufferTag>;

/// Memory on one device: tensors one after another, or plain values.
struct ProgramBuffer {
  DeviceId device;
  BufferKind kind = BufferKind::activation;
  LayerId layer;            ///< whose it is
  std::vector<Box> boxes;   ///< of one tensor's coordinates
  LayerId network_input;    ///< valid where the boxes are loaded from this layer's data
  std::int64_t values = 0;  ///< instead: fp32 values
  bool lasting = false;     ///< not given back in each step
  std::uint32_t users = 0;  ///< how many tasks must end before it is given back
};

/// One box of a buffer; invalid for none.
struct Slot {
  BufferId buffer;
  std::uint32_t box = 0;
  bool valid() const { return buffer.valid(); }
  bool operator==(const Slot&) const = default;
};

struct Move {
  Slot from, to;
  Box box;
  bool operator==(const Move&) const = default;
};

/// How a task puts its output's gradient together from what the readers give back.
struct GradientSum {
  Slot to;
  std::vector<Move> parts;  ///< into `to`, in the order of the readers
  bool all_whole = false;   ///< each covers `to`
  bool disjoint = false;    ///< each element has exactly one
};

/// A participant's part in a group that sums values.
struct GroupPart {
  Combination how = Combination::sum;
  std::vector<BufferId> buffers;     ///< by participant
  std::vector<std::int64_t> counts;  ///< elements that each one's moments stand for
  std::size_t own = 0;               ///< which participant this is
  std::int64_t values = 0;

  /// The values that participant k sums.
  Interval part_of(std::size_t k) const;
  /// Values that reach this participant where each sums its part: its own part from the others, and
  /// theirs from them. However a collective does it, it counts so.
  std::int64_t moved() const;
};

struct TaskProgram {
  bool is_head = false;     ///< compute: the first forward or the first backward task of its shard
  std::vector<Move> moves;  ///< a transfer's, or what a shard gathers from its own device
  GradientSum gradient;
  std::vector<BufferId> add_to_gradient;  ///< a server's update: what replicas sent
  BufferId from_values, to_values;        ///< a transfer of plain values
  GroupPart group;
  std::vector<Slot> inputs, input_gradients;
  Slot output, output_gradient;
  BufferId parameters, parameter_gradients, statistics;
  std::uint32_t kernel = 0;  ///< compute: in kernels()
  std::vector<BufferId> network_inputs;
  std::vector<BufferId> releases;
};

/// One shard's kernel.
struct ProgramKernel {
  DeviceId device;
  ShardSpec spec;  ///< its graph, seed and training are the run's to set
  std::uint32_t shard = 0;
};

class Program {
 public:
  std::span<const ProgramBuffer> buffers() const { return buffers_; }
  std::span<const ProgramKernel> kernels() const { return kernels_; }
  const TaskProgram& operator[](TaskId task) const { return tasks_[task()]; }
  /// The shard's parameters, invalid where it has none.
  BufferId parameters(LayerId layer, std::size_t shard) const;

 private:
  friend class ProgramBinder;
  std::vector<ProgramBuffer> buffers_;
  std::vector<ProgramKernel> kernels_;
  std::vector<TaskProgram> tasks_;
  std::vector<std::vector<BufferId>> parameters_;  // [layer][shard]
};

/// `plan` must be runnable() and lowered from `graph`, to which the program points: it must outlive
/// that.
Program bind(const Graph& graph, const Plan& plan);

/// Whether tasks of the plan run beside what their device computes, as with copy engines. Who does
/// one task of a device after the other can't run it.
bool uses_copy_engines(const Plan& plan);

}  // namespace strata
