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
  void add_buffer(Buffer buffer) { plan_.buffers_.push_back(std::move(buffer)); }

  const Plan& so_far() const { return plan_; }
  Plan build() &&;

 private:
  Plan plan_;
  std::vector<std::pair<TaskId, TaskId>> carried_;
};

}  // namespace strata
