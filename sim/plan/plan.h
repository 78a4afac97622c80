#pragma once

// The Plan: one training step as a task graph over shards, complete enough that the simulator
// replays it on profiled costs and the executor runs the very same object on real devices. It
// decides what runs where and in which order, which boxes move, how replicas synchronise and how
// long buffers live; an interpreter may delay a task, never invent or fuse one.
//
// Tasks are numbered in plan order, which is topological; a device offers its ready compute tasks
// in that order. A step follows the step before it through the carried dependencies (a layer's
// next forward waits for its update). A plan by classes has the tasks of one device of each class
// (device_classes.h); it can be simulated, not run. Sizes in bytes. Immutable once lowered;
// thread-safe to read.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/optimizer.h"
#include "sim/plan/buffer_users.h"
#include "sim/plan/collective.h"
#include "sim/plan/device_classes.h"
#include "sim/plan/operands.h"
#include "sim/step/merged_products.h"
#include "sim/strategy/shard_devices.h"

namespace strata {

enum class TaskKind : std::uint8_t {
  compute,     ///< one phase of one shard on its device
  transfer,    ///< boxes (or gradients, or parameters) arriving at one device, or at its host
  collective,  ///< one device's part in a group that sums a tensor
  reduce,      ///< a group without copy engines: the device sums its part of the tensor
  gather,      ///< and then fetches the parts that the others summed
  join         ///< no work: many tasks' end as one dependency
};

/// Whether a task of the kind is a participant's in a group.
constexpr bool in_group(TaskKind kind) {
  return kind == TaskKind::collective || kind == TaskKind::reduce || kind == TaskKind::gather;
}

/// Whether a compute task of the phase adds up what it moves; others copy.
constexpr bool adds_up(Phase phase) {
  return phase != Phase::forward_statistics && phase != Phase::forward;
}

/// What a task occupies: its device (one task at a time), or the links alone.
enum class Stream : std::uint8_t { device, links };

struct Task {
  TaskKind kind = TaskKind::join;
  Phase phase = Phase::forward;  ///< compute: which; transfer: forward, backward_data (gradients)
                                 ///< or update (parameter server, host); groups: statistics or
                                 ///< update
  LayerId layer;                 ///< transfer of an edge: the consumer
  DeviceId device;               ///< transfer: the receiver
  std::uint32_t shard = 0;       ///< compute: of the layer; transfer: the receiver's shard
  std::uint32_t detail = 0;      ///< transfer: in transfers(); of a group: in groups(); compute:
                                 ///< 1 + which of those that put something together, 0 for none
  Stream stream = Stream::links;
  bool again = false;       ///< computes again what was not kept, or moves something for that
  std::uint32_t round = 0;  ///< of the batch, which is cut in time (Plan::rounds())

  bool operator==(const Task&) const = default;
};

inline constexpr auto kNoExchange = std::numeric_limits<std::uint32_t>::max();

/// What a transfer occupies that is a part of an update by its device's host, and moves nothing
/// between devices. Its pieces are the device's own: gradients without a target go over the link to
/// the host's memory, what has neither is read and written there, and parameters without a source
/// come back.
enum class HostPart : std::uint8_t { none, link_to_host, memory, link_to_device };

struct Transfer {
  std::uint32_t input = 0;  ///< which input of the consumer
  std::uint32_t first_piece = 0, last_piece = 0;
  HostPart host = HostPart::none;
  Bytes bytes;
  std::uint32_t copies = 1;  ///< in a plan by classes: so many senders of one class send as much
  std::uint32_t exchange = kNoExchange;  ///< in exchanges(): that it is a part of
  bool operator==(const Transfer&) const = default;
};

/// Transfers that a library does at once: all of a group's devices send and receive. They begin
/// once all that they bring is there, and end together.
struct Exchange {
  /// Or a reduce-scatter, of which the receivers add up, or an all-to-all.
  GroupWork work = GroupWork::all_gather;
  std::uint32_t shape = 0;  ///< in group_shapes()
  Bytes bytes;   ///< of the tensor that all of them have together; of an all-to-all, what all get
  TaskId first;  ///< of its transfers
  bool fused = false;  ///< half of an all-reduce: the scattered sums are gathered by all of them
  double moved = 1;    ///< what devices get from others, over the bytes of its transfers
  bool operator==(const Exchange&) const = default;
};

enum class GroupPurpose : std::uint8_t { parameters, statistics };

/// What a group sums for one layer.
struct SummedLayer {
  LayerId layer;
  Bytes bytes;
  std::int64_t first = 0;  ///< where its values begin
  bool operator==(const SummedLayer&) const = default;
};

/// Of `values` that so many share: the k-th interval. The first ones are longer by `unit`, where
/// they can't be equal.
Interval share_of(std::int64_t values, std::size_t participants, std::size_t k,
                  std::int64_t unit = 1);

/// Devices that sum a tensor of `bytes`, or do a half of that. Every participant has one collective
/// task, and all end together; devices without copy engines have a reduce task each and then a
/// gather task each, or one of the two for a half.
struct Group {
  GroupPurpose purpose = GroupPurpose::parameters;
  SyncAlgorithm algorithm = SyncAlgorithm::ring;
  std::uint32_t shape = 0;                ///< in group_shapes(): the participants and the phases
  Bytes bytes;                            ///< of the tensor that is summed
  std::vector<TaskId> tasks = {};         ///< collective or reduce, by participant; of an
                                          ///< all-gather alone, collective or gather
  std::vector<TaskId> gathers = {};       ///< by participant, or none
  std::vector<BufferId> buffers = {};     ///< by participant: what it brings, then the sum
  Combination how = Combination::sum;     ///< as the buffers become one
  std::int64_t values = 0;                ///< of each buffer
  std::int64_t first = 0;                 ///< where these begin in it
  std::vector<std::int64_t> counts = {};  ///< by participant: elements that a value stands for
  std::vector<SummedLayer> layers = {};   ///< whose values these are, one after another
  GroupWork work = GroupWork::all_reduce;
  /// Of a half, by participant, where it does not work in place: a reduce-scatter's has the
  /// participant's part alone, as what an all-gather's participant brings has. Invalid for an empty
  /// part.
  std::vector<BufferId> results = {};
  bool adds = false;                 ///< a reduce-scatter: to what its results hold
  std::vector<TaskId> updates = {};  ///< by participant: what updates parameters by its part

  /// Whether the participant's buffer holds its part alone.
  bool brings_parts() const { return work == GroupWork::all_gather && !results.empty(); }
  /// The values that participant k sums where each sums its part; pairs stay together.
  Interval part_of(std::size_t k) const;
  /// Values that reach participant k where each sums its part: its own part from the others, and
  /// theirs from them. However a collective does it, it counts so.
  std::int64_t moved(std::size_t k) const;
  /// Whose the task is.
  std::size_t participant(TaskId task) const;
  bool operator==(const Group&) const = default;
};

/// Participants and link loads, shared by all groups of the same devices, algorithm and
/// protocols.
struct GroupShape {
  std::vector<DeviceId> devices;
  std::vector<CollectivePhase> phases;
  bool operator==(const GroupShape&) const = default;
};

/// Where a layer's shards lie: shard i of the partition by `degrees` on devices[i].
struct Placement {
  Degrees degrees = kWhole;
  ShardDevices devices;
  bool operator==(const Placement&) const = default;
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
  std::span<const Exchange> exchanges() const { return exchanges_; }
  /// The exchange that the task is a part of; null where it moves alone, or nothing.
  const Exchange* exchange_of(const Task& task) const {
    if (task.kind != TaskKind::transfer) return nullptr;
    const std::uint32_t number = transfers_[task.detail].exchange;
    return number == kNoExchange ? nullptr : &exchanges_[number];
  }
  HostPart host_part(const Task& task) const {
    return task.kind == TaskKind::transfer ? transfers_[task.detail].host : HostPart::none;
  }
  bool is_on_host(const Task& task) const { return host_part(task) != HostPart::none; }
  std::span<const Group> groups() const { return groups_; }
  std::span<const GroupShape> group_shapes() const { return group_shapes_; }

  std::span<const Buffer> buffers() const { return buffers_; }
  const Buffer& operator[](BufferId id) const { return buffers_[id()]; }
  /// The tensors in the buffer, one after another; none where it holds values, or where so many
  /// flows were put together that the plan can be simulated, not run.
  std::span<const Box> boxes(BufferId id) const {
    const Buffer& buffer = buffers_[id()];
    return std::span(boxes_).subspan(buffer.first_box, buffer.last_box - buffer.first_box);
  }
  const Box& box(View view) const { return boxes(view.buffer)[view.box]; }
  /// What the piece moves; an empty one where it has none.
  const Box& box(const Piece& piece) const {
    static constexpr Box kNothing{};
    return piece.box.valid() ? boxes_[piece.box()] : kNothing;
  }
  /// What a compute task's kernel works on: inputs and their gradients by input. An input that
  /// stands twice has an operand each time; one of which the shard needs nothing has none.
  std::span<const Operand> operands(TaskId id) const {
    return slice(operands_, operand_offsets_, id);
  }
  /// What the task moves: a transfer's pieces, what a compute task puts together.
  std::span<const Piece> moves(TaskId id) const;
  /// Of these, the bytes that cost the device time: none of a transfer, none where copy engines or
  /// libraries do it (Device::puts_together()).
  Bytes assembled(TaskId id) const;
  /// Calls visit(BufferId, Access) for every use of a buffer by the task, of one buffer perhaps
  /// several times.
  template <class Visit>
  void for_each_use(TaskId id, Visit visit) const;
  /// The users of a buffer that wait for no other user of it, and those for which no other waits:
  /// from the start of the earliest of the ones to the end of the latest of the others it is kept.
  /// Of one that lasts: each layer's first user on a device, and the last that writes it, if any
  /// does.
  std::span<const TaskId> first_users(BufferId id) const { return first_users_.of(id); }
  std::span<const TaskId> last_users(BufferId id) const { return last_users_.of(id); }

  const Placement& placement(LayerId layer) const { return placements_[layer()]; }
  bool runnable() const { return !joins_transfers_ && classes_ == nullptr; }
  /// Somewhere one transfer stands for all that a device receives (LowerOptions).
  bool joins_transfers() const { return joins_transfers_; }
  /// Null where every device has its tasks.
  const DeviceClasses* classes() const { return classes_.get(); }
  /// Which device's tasks are the device's, and for how many devices they stand.
  DeviceId representative(DeviceId device) const {
    return classes_ ? classes_->representative(device) : device;
  }
  std::int64_t members(DeviceId device) const { return classes_ ? classes_->members(device) : 1; }
  LinkId representative(LinkId link) const {
    return classes_ ? classes_->representative(link) : link;
  }
  std::int64_t members(LinkId link) const { return classes_ ? classes_->members(link) : 1; }
  /// How many such groups there are, and how many such transfers.
  std::int64_t alike(const Group& group) const;
  std::int64_t alike(const Task& transfer) const {
    return transfers_[transfer.detail].copies * members(transfer.device);
  }
  /// The devices that take part in the group; tasks() has those that stand for a class.
  std::span<const DeviceId> participants(const Group& group) const {
    return group_shapes_[group.shape].devices;
  }

  /// From the first step on, without an end: parameters, what the optimizer keeps of them, and
  /// gradients that a step sets to zero rather than makes anew.
  bool stays(const Buffer& buffer) const {
    return buffer.lasts() || (keeps_gradients_ && buffer.kind == BufferKind::parameter_gradients);
  }

  DType dtype() const { return dtype_; }
  /// The rule of all its updates, which decides what its optimizer_state buffers hold.
  Optimizer optimizer() const { return optimizer_; }
  /// The layers that are computed as one product. Each has its own tasks, of which each takes its
  /// part of what the product takes; executors compute layers apart, and run no plan that has some.
  const MergedProducts& products() const { return products_; }
  /// In so many a step cuts its batch: each computes the whole graph, of which it has its part of
  /// the samples, and all add to the same gradients.
  std::uint32_t rounds() const { return rounds_; }
  std::size_t device_count() const { return assembles_.size(); }

  bool operator==(const Plan&) const = default;

 private:
  friend class PlanBuilder;
  template <class T>
  static std::span<const T> slice(const std::vector<T>& all,
                                  const std::vector<std::uint32_t>& offsets, TaskId id) {
    return std::span(all).subspan(offsets[id()], offsets[id() + 1] - offsets[id()]);
  }

  /// The moves of one compute task.
  struct Gathered {
    std::uint32_t first_piece = 0, last_piece = 0;  // in gathered_pieces_
    bool operator==(const Gathered&) const = default;
  };

  std::vector<Task> tasks_;
  std::vector<std::uint32_t> dependency_offsets_, carried_offsets_, operand_offsets_;
  std::vector<TaskId> dependencies_, carried_;
  std::vector<Operand> operands_;
  std::vector<Transfer> transfers_;
  std::vector<Piece> pieces_;       // of transfers
  std::vector<Gathered> gathered_;  // by task
  std::vector<Piece> gathered_pieces_;
  std::vector<bool> assembles_;  // by device
  std::vector<Exchange> exchanges_;
  std::vector<Group> groups_;
  std::vector<GroupShape> group_shapes_;
  std::vector<Buffer> buffers_;
  std::vector<Box> boxes_;  // equal buffers and pieces have the same
  BufferUsers first_users_, last_users_;
  std::vector<Placement> placements_;
  bool joins_transfers_ = false;
  bool keeps_gradients_ = false;
  std::shared_ptr<const DeviceClasses> classes_;
  DType dtype_ = DType::fp32;
  Optimizer optimizer_ = Optimizer::sgd;
  MergedProducts products_;
  std::uint32_t rounds_ = 1;
};

template <class Visit>
void Plan::for_each_use(TaskId id, Visit visit) const {
  const Task& task = tasks_[id()];
  const bool sums = task.kind == TaskKind::compute && adds_up(task.phase);
  for (const Piece& piece : moves(id)) {
    if (piece.source.valid()) visit(piece.source.buffer, Access::read);
    if (piece.target.valid()) visit(piece.target.buffer, sums ? Access::update : Access::write);
  }
  for (const Operand& operand : operands(id)) visit(operand.buffer, operand.access);
  if (!in_group(task.kind)) return;
  const Group& group = groups_[task.detail];
  if (group.buffers.empty()) return;
  const std::size_t own = group.participant(id);
  const auto use = [&](BufferId buffer, Access access) {
    if (buffer.valid()) visit(buffer, access);
  };
  use(group.buffers[own], group.results.empty() ? Access::update : Access::read);
  if (!group.results.empty()) {
    use(group.results[own], group.adds ? Access::update : Access::write);
  }
  if (task.kind == TaskKind::collective) return;
  for (std::size_t k = 0; k < group.buffers.size(); ++k) {
    if (k != own) use(group.buffers[k], Access::read);
  }
}

/// How many values the piece moves, of a plan that can be run.
inline std::int64_t values_in(const Plan& plan, const Piece& piece) {
  return moves_values(piece) ? plan[piece.target.buffer].values : volume(plan.box(piece));
}

/// The shard on the device of the layer or, where it has none there, of one that holds a copy of
/// its weight.
struct HeldShard {
  LayerId layer;
  std::uint32_t shard = 0;
};
HeldShard weight_on(const Graph& graph, const Plan& plan, LayerId layer, DeviceId device);
/// Of the layer that owns the weight, a shard that has the same part of it; itself where its layer
/// shares no weight.
HeldShard owner_of_weight(const Graph& graph, const Plan& plan, HeldShard holder);

/// What a step moves between devices, by the counting of INTERFACE.md: a box that a consumer's
/// device needs and does not own once forward and once for its gradient; a parameter shard of B
/// bytes with r replicas 2 (r-1) B, half of it for each half of a sum. Statistics (batch norm's
/// sums) stand apart.
struct Communication {
  Bytes transfer, sync, statistics;
  Bytes total() const { return transfer + sync; }
  bool operator==(const Communication&) const = default;
};
/// Rounds of a step, from `first` on to that before `last`.
struct Rounds {
  std::uint32_t first = 0, last = std::numeric_limits<std::uint32_t>::max();
  bool contain(const Task& task) const { return task.round >= first && task.round < last; }
};
/// Of the tasks of some rounds: sums of gradients mostly belong to the last one.
Communication communication(const Plan& plan, Rounds rounds = {});

}  // namespace strata
