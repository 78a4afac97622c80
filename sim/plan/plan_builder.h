#pragma once

// Collects the parts of a Plan in plan order and lays the dependencies out flat. What a task waits
// for in the step before follows from the buffers that tasks use.

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/plan/known_boxes.h"
#include "sim/plan/plan.h"

namespace strata {

class PlanBuilder {
 public:
  PlanBuilder(DType dtype, std::size_t device_count, std::uint32_t rounds = 1);

  /// The rule of all updates; by default plain SGD.
  void update_by(Optimizer optimizer) { plan_.optimizer_ = optimizer; }
  /// By default no products are merged.
  void merge_products(MergedProducts products) { plan_.products_ = std::move(products); }

  /// What is added from here on belongs to the round. `in_turn`: and is an instance, of which each
  /// device computes all after all of the instance before it that is in turn; `beside`: after all
  /// of those before that one.
  void begin_instance(std::uint32_t round, bool in_turn, bool beside);
  /// Whether what is added computes again what was not kept.
  void recompute(bool again) { again_ = again; }

  /// Appends a task after tasks that exist already; equal dependencies are merged. `gathered`: what
  /// a compute task puts together on its device first.
  TaskId add(const Task& task, std::span<const TaskId> dependencies,
             std::span<const Operand> operands = {}, std::span<const Piece> gathered = {});
  TaskId add(const Task& task, std::initializer_list<TaskId> dependencies) {
    return add(task, view(dependencies));
  }
  /// Tasks from now on are of this round; the round that they were of before.
  std::uint32_t set_round(std::uint32_t round) { return std::exchange(round_, round); }
  /// `task` also waits for `earlier` of the step before, whatever they use.
  void carry(TaskId task, TaskId earlier) { carried_.emplace_back(task, earlier); }

  /// Appends a transfer and its task; fills in the task's kind and detail.
  TaskId add_transfer(Task task, std::uint32_t input, std::span<const Piece> pieces,
                      std::span<const TaskId> dependencies, std::uint32_t copies = 1,
                      std::uint32_t exchange = kNoExchange);
  /// Likewise, of a part of an update by the device's host.
  TaskId add_on_host(HostPart part, const Task& task, std::span<const Piece> pieces,
                     std::span<const TaskId> dependencies);
  /// Appends an exchange without transfers.
  std::uint32_t add_exchange(GroupWork work, std::uint32_t shape, Bytes bytes, double moved);
  TaskId add_transfer(const Task& task, std::uint32_t input, std::span<const Piece> pieces,
                      std::initializer_list<TaskId> dependencies) {
    return add_transfer(task, input, pieces, view(dependencies));
  }
  std::uint32_t add_group_shape(GroupShape shape);
  /// Appends a group without tasks; each participant is added with join_group, whose task's kind
  /// becomes collective where it is not reduce or gather.
  std::uint32_t add_group(Group group);
  TaskId join_group(std::uint32_t group, Task task, std::span<const TaskId> dependencies);
  TaskId join_group(std::uint32_t group, const Task& task,
                    std::initializer_list<TaskId> dependencies) {
    return join_group(group, task, view(dependencies));
  }
  /// The second task of a participant that has no copy engine.
  TaskId gather_group(std::uint32_t group, Task task, std::span<const TaskId> dependencies);
  TaskId gather_group(std::uint32_t group, const Task& task,
                      std::initializer_list<TaskId> dependencies) {
    return gather_group(group, task, view(dependencies));
  }
  /// What updates by the participants' parts.
  void set_updates(std::uint32_t group, std::vector<TaskId> updates) {
    plan_.groups_[group].updates = std::move(updates);
  }
  /// `boxes`: what it holds; none for values.
  BufferId add_buffer(Buffer buffer, std::span<const Box> boxes = {});
  /// The number of what a piece moves; it is invalid for an empty box.
  BoxId number_of(const Box& box);
  void place(std::vector<Placement> placements) { plan_.placements_ = std::move(placements); }
  void join_transfers() { plan_.joins_transfers_ = true; }
  /// Gradients of parameters stay from step to step (Plan::stays()).
  void keep_gradients() { plan_.keeps_gradients_ = true; }
  /// Only the devices that stand for their classes get tasks.
  void lower_classes(std::shared_ptr<const DeviceClasses> classes) {
    plan_.classes_ = std::move(classes);
  }
  /// What compute tasks put together costs the device time.
  void assemble(DeviceId device) { plan_.assembles_[device()] = true; }

  /// The whole will be about so many times what was added so far.
  void expect(double times);
  const Plan& so_far() const { return plan_; }
  Plan build() &&;

 private:
  static std::span<const TaskId> view(std::initializer_list<TaskId> ids) {
    return {ids.begin(), ids.size()};
  }
  /// What a device has of the instance at hand, and what it must have ended before.
  struct Turn {
    std::uint32_t instance = 0;
    TaskId first;                      ///< of the instance at hand
    std::vector<TaskId> open, before;  ///< after which none of its instance comes; of the last one
  };
  void take_turn(const Task& task, TaskId id, std::size_t first_dependency);
  void carry_buffers();
  const Exchange* scattered_before(TaskId fetched) const;
  void fuse_exchanges();

  Plan plan_;
  KnownBoxes known_boxes_;
  std::vector<Turn> turns_;     ///< by device
  std::uint32_t instance_ = 0;  ///< 0: none in turn
  bool beside_ = false;         ///< the instance before it on its device
  std::uint32_t instances_ = 0;
  std::uint32_t round_ = 0;
  bool again_ = false;
  std::vector<std::pair<TaskId, TaskId>> carried_;
};

}  // namespace strata
