#pragma once

// Collects the parts of a Plan in plan order and lays the dependencies out flat.

#include <span>
#include <utility>
#include <vector>

#include "sim/plan/plan.h"

namespace strata {

class PlanBuilder {
 public:
  PlanBuilder(DType dtype, std::size_t device_count);

  /// Appends a task after tasks that exist already; equal dependencies are merged.
  TaskId add(const Task& task, std::vector<TaskId> dependencies);
  /// `task` also waits for `earlier` of the step before.
  void carry(TaskId task, TaskId earlier) { carried_.emplace_back(task, earlier); }

  /// Appends a transfer and its task; fills in the task's kind and detail.
  TaskId add_transfer(Task task, std::uint32_t input, std::span<const Piece> pieces,
                      std::vector<TaskId> dependencies);
  std::uint32_t add_group_shape(GroupShape shape);
  /// Appends a group without tasks; each participant is added with join_group.
  std::uint32_t add_group(Group group);
  TaskId join_group(std::uint32_t group, Task task, std::vector<TaskId> dependencies);
  /// The second task of a participant that has no copy engine.
  TaskId gather_group(std::uint32_t group, Task task, std::vector<TaskId> dependencies);
  void add_buffer(Buffer buffer) { plan_.buffers_.push_back(std::move(buffer)); }
  void place(std::vector<Placement> placements) { plan_.placements_ = std::move(placements); }
  void work_in_place(std::vector<bool> layers) { plan_.in_place_ = std::move(layers); }
  void read(std::vector<std::vector<std::vector<NeededBox>>> reads) {
    plan_.reads_ = std::move(reads);
  }
  void put_flows_together() { plan_.runnable_ = false; }
  /// Bytes that `task` copies or adds up before its kernel; summed over calls.
  void assemble(TaskId task, Bytes bytes) { plan_.assembled_.emplace_back(task, bytes); }

  const Plan& so_far() const { return plan_; }
  Plan build() &&;

 private:
  void merge_assembled();

  Plan plan_;
  std::vector<std::pair<TaskId, TaskId>> carried_;
};

}  // namespace strata
