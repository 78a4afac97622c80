#pragma once

// The Plan: one training step as a task graph over shards, complete enough that the simulator
// replays it on profiled costs and the executor runs the very same object on real devices. It
// decides what runs where and in which order, which boxes move, how replicas synchronise and how
// long buffers live; an interpreter may delay a task, never invent or fuse one.
//
// Tasks are numbered in plan order, which is topological; a device offers its ready compute tasks
// in that order. A step follows the step before it through the carried dependencies (a layer's
// next forward waits for its update). Sizes in bytes. Immutable once lowered; thread-safe to read.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/phase.h"
#include "sim/plan/collective.h"

namespace strata {

enum class TaskKind : std::uint8_t {
  compute,     ///< one phase of one shard on its device
  transfer,    ///< boxes (or gradients, or parameters) arriving at one device
  collective,  ///< one device's part in a group that sums a tensor
  reduce,      ///< a group without copy engines: the device sums its part of the tensor
  gather,      ///< and then fetches the parts that the others summed
  join         ///< no work: many tasks' end as one dependency
};

/// What a task occupies: its device (one task at a time), or the links alone.
enum class Stream : std::uint8_t { device, links };

struct Task {
  TaskKind kind = TaskKind::join;
  Phase phase = Phase::forward;  ///< compute: which; transfer: forward, backward_data (gradients)
                                 ///< or update (parameter server); groups: statistics or update
  LayerId layer;                 ///< transfer of an edge: the consumer
  DeviceId device;               ///< transfer: the receiver
  std::uint32_t shard = 0;       ///< compute: of the layer; transfer: the receiver's shard
  std::uint32_t detail = 0;      ///< transfer: in transfers(); of a group: in groups()
  Stream stream = Stream::links;

  bool operator==(const Task&) const = default;
};

/// Bytes that come from one device; `box` in the coordinates of the tensor that moves (the
/// producer's output), empty where the piece stands for several or for parameters.
struct Piece {
  DeviceId from;
  Bytes bytes;
  Box box;
  bool operator==(const Piece&) const = default;
};

struct Transfer {
  std::uint32_t input = 0;  ///< which input of the consumer
  std::uint32_t first_piece = 0, last_piece = 0;
  Bytes bytes;
  bool operator==(const Transfer&) const = default;
};

enum class GroupPurpose : std::uint8_t { parameters, statistics };

/// Devices that sum a tensor of `bytes`. Every participant has one collective task, and all end
/// together; devices without copy engines have a reduce task each and then a gather task each.
struct Group {
  GroupPurpose purpose = GroupPurpose::parameters;
  SyncAlgorithm algorithm = SyncAlgorithm::ring;
  std::uint32_t shape = 0;            ///< in group_shapes(): the participants and the phases
  Bytes bytes;                        ///< of the tensor that is summed
  std::vector<TaskId> tasks;          ///< collective or reduce, by participant
  std::vector<TaskId> gathers;        ///< by participant, or none
  std::vector<std::uint32_t> shards;  ///< of the layer, by participant
  bool operator==(const Group&) const = default;
};

/// Participants and link loads, shared by all groups of the same devices and algorithm.
struct GroupShape {
  std::vector<DeviceId> devices;
  std::vector<CollectivePhase> phases;
  bool operator==(const GroupShape&) const = default;
};

/// Where a layer's shards lie: shard i of the partition by `degrees` on devices[i].
struct Placement {
  Degrees degrees = kWhole;
  std::vector<DeviceId> devices;
  bool operator==(const Placement&) const = default;
};

/// A box of the producer's output that one shard of the consumer reads.
struct NeededBox {
  std::uint32_t producer_shard = 0;
  std::uint32_t consumer_shard = 0;
  DeviceId owner;
  DeviceId reader;
  Box box;
  bool local() const { return owner == reader; }
  bool operator==(const NeededBox&) const = default;
};

enum class BufferKind : std::uint8_t {
  parameters,
  parameter_gradients,
  server_gradients,     ///< a replica's, arrived at the parameter server by `first`
  activation,           ///< a shard's output
  mask,                 ///< what dropout remembers
  input,                ///< what a shard gathers of one input
  activation_gradient,  ///< of what a shard read of one input
  received_gradient,    ///< of a shard's output, arrived by `first`: the boxes of that transfer
  gathered_gradient     ///< of a shard's output: the sum of what its readers give back
};

/// Memory on a device from the start of its first task to the end of its last user. Parameters
/// live for ever: they have no first task.
struct Buffer {
  DeviceId device;
  Bytes bytes;
  BufferKind kind = BufferKind::activation;
  LayerId layer;
  TaskId first;
  std::vector<TaskId> users;
  std::uint32_t shard = 0;  ///< of the layer
  std::uint32_t input = 0;  ///< input, activation_gradient: which
  bool operator==(const Buffer&) const = default;
};

class Plan {
 public:
  std::size_t size() const { return tasks_.size(); }
  std::span<const Task> tasks() const { return tasks_; }
  const Task& operator[](TaskId id) const { return tasks_[id()]; }
  /// Tasks of this step that must end first; all have smaller ids.
  std::span<const TaskId> dependencies(TaskId id) const {
    return slice(dependencies_, dependency_offsets_, id);
  }
  /// Tasks of the step before that must end first.
  std::span<const TaskId> carried(TaskId id) const { return slice(carried_, carried_offsets_, id); }

  std::span<const Transfer> transfers() const { return transfers_; }
  std::span<const Piece> pieces(const Transfer& transfer) const {
    return std::span(pieces_).subspan(transfer.first_piece,
                                      transfer.last_piece - transfer.first_piece);
  }
  std::span<const Group> groups() const { return groups_; }
  std::span<const GroupShape> group_shapes() const { return group_shapes_; }
  std::span<const Buffer> buffers() const { return buffers_; }

  const Placement& placement(LayerId layer) const { return placements_[layer()]; }
  /// What the layer's shards read of one input, by consumer shard, then producer shard: none of a
  /// network input. Not told (empty) for an edge with so many flows that they were put together:
  /// such a plan can be simulated, not run.
  std::span<const NeededBox> reads(LayerId layer, std::size_t input) const {
    return reads_[layer()][input];
  }
  bool runnable() const { return runnable_; }
  /// The layer's output takes the place of its input, and the gradient of the input that of the
  /// output's: each shard works on its producer's buffers.
  bool in_place(LayerId layer) const { return in_place_[layer()]; }
  /// What a compute task copies or adds up within its device before its kernel can run, where the
  /// device does that itself (Device::puts_together()): boxes for a gathered input, parts of its
  /// output's gradient, what replicas sent to a server.
  Bytes assembled(TaskId id) const;

  DType dtype() const { return dtype_; }
  std::size_t device_count() const { return device_count_; }

  bool operator==(const Plan&) const = default;

 private:
  friend class PlanBuilder;
  template <class T>
  static std::span<const T> slice(const std::vector<T>& all,
                                  const std::vector<std::uint32_t>& offsets, TaskId id) {
    return std::span(all).subspan(offsets[id()], offsets[id() + 1] - offsets[id()]);
  }

  std::vector<Task> tasks_;
  std::vector<std::uint32_t> dependency_offsets_, carried_offsets_;
  std::vector<TaskId> dependencies_, carried_;
  std::vector<Transfer> transfers_;
  std::vector<Piece> pieces_;
  std::vector<Group> groups_;
  std::vector<GroupShape> group_shapes_;
  std::vector<Buffer> buffers_;
  std::vector<Placement> placements_;
  std::vector<std::vector<std::vector<NeededBox>>> reads_;  // [layer][input]
  std::vector<bool> in_place_;
  std::vector<std::pair<TaskId, Bytes>> assembled_;  // sorted by task
  bool runnable_ = true;
  DType dtype_ = DType::fp32;
  std::size_t device_count_ = 0;
};

/// What a step moves between devices, by the counting of INTERFACE.md: a box that a consumer's
/// device needs and does not own once forward and once for its gradient; a parameter shard of B
/// bytes with r replicas 2 (r-1) B. Statistics (batch norm's sums) stand apart.
struct Communication {
  Bytes transfer, sync, statistics;
  Bytes total() const { return transfer + sync; }
  bool operator==(const Communication&) const = default;
};
Communication communication(const Plan& plan);

}  // namespace strata
