#pragma once

// Which tasks use a buffer first and last in a step. Its memory, and what waits for the step
// before, follow from them. Pure; thread-safe. Internal to sim/plan.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/plan/operands.h"

namespace strata {

class Plan;

/// Tasks by buffer.
class BufferUsers {
 public:
  std::span<const TaskId> of(BufferId buffer) const {
    return std::span(tasks_).subspan(ends_[buffer()], ends_[buffer() + 1] - ends_[buffer()]);
  }
  void add(TaskId task) { tasks_.push_back(task); }
  /// What was added since the last call is the next buffer's.
  void end_buffer() { ends_.push_back(static_cast<std::uint32_t>(tasks_.size())); }
  bool operator==(const BufferUsers&) const = default;

 private:
  std::vector<std::uint32_t> ends_ = {0};
  std::vector<TaskId> tasks_;
};

/// `first`: users that wait for no other user of the buffer; where tasks write it, only of those.
/// `last`: users for whom no other one waits. Of a buffer that lasts: each layer's first user on a
/// device, of those before who writes it, and the last that writes it, if any does.
struct FirstAndLastUsers {
  BufferUsers first, last;
};
FirstAndLastUsers first_and_last_users(const Plan& plan);

}  // namespace strata
