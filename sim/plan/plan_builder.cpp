#include "sim/plan/plan_builder.h"

#include <algorithm>
#include <cassert>

namespace strata {

PlanBuilder::PlanBuilder(DType dtype, std::size_t device_count) {
  plan_.dtype_ = dtype;
  plan_.device_count_ = device_count;
  plan_.dependency_offsets_.push_back(0);
}

TaskId PlanBuilder::add(const Task& task, std::vector<TaskId> dependencies) {
  const TaskId id(plan_.tasks_.size());
  std::sort(dependencies.begin(), dependencies.end());
  dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
  assert(dependencies.empty() || dependencies.back() < id);
  plan_.tasks_.push_back(task);
  plan_.dependencies_.insert(plan_.dependencies_.end(), dependencies.begin(), dependencies.end());
  plan_.dependency_offsets_.push_back(static_cast<std::uint32_t>(plan_.dependencies_.size()));
  return id;
}

TaskId PlanBuilder::add_transfer(Task task, std::uint32_t input, std::span<const Piece> pieces,
                                 std::vector<TaskId> dependencies) {
  Transfer transfer{input, static_cast<std::uint32_t>(plan_.pieces_.size()), 0, {}};
  for (const Piece& piece : pieces) {
    plan_.pieces_.push_back(piece);
    transfer.bytes += piece.bytes;
  }
  transfer.last_piece = static_cast<std::uint32_t>(plan_.pieces_.size());
  task.kind = TaskKind::transfer;
  task.detail = static_cast<std::uint32_t>(plan_.transfers_.size());
  plan_.transfers_.push_back(transfer);
  return add(task, std::move(dependencies));
}

std::uint32_t PlanBuilder::add_group_shape(GroupShape shape) {
  plan_.group_shapes_.push_back(std::move(shape));
  return static_cast<std::uint32_t>(plan_.group_shapes_.size() - 1);
}

std::uint32_t PlanBuilder::add_group(Group group) {
  plan_.groups_.push_back(std::move(group));
  return static_cast<std::uint32_t>(plan_.groups_.size() - 1);
}

TaskId PlanBuilder::join_group(std::uint32_t group, Task task, std::vector<TaskId> dependencies) {
  task.kind = TaskKind::collective;
  task.detail = group;
  const TaskId id = add(task, std::move(dependencies));
  plan_.groups_[group].tasks.push_back(id);
  return id;
}

Plan PlanBuilder::build() && {
  std::sort(carried_.begin(), carried_.end());
  carried_.erase(std::unique(carried_.begin(), carried_.end()), carried_.end());
  plan_.carried_offsets_.assign(plan_.tasks_.size() + 1, 0);
  for (const auto& [task, earlier] : carried_) {
    ++plan_.carried_offsets_[task() + 1];
    plan_.carried_.push_back(earlier);
  }
  for (std::size_t i = 1; i < plan_.carried_offsets_.size(); ++i) {
    plan_.carried_offsets_[i] += plan_.carried_offsets_[i - 1];
  }
  return std::move(plan_);
}

}  // namespace strata
