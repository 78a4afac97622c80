#pragma once

// Which tasks of which steps may begin: each when all that it waits for, in its own step and in the
// step before, has ended. Every executor that decides by itself when a task begins counts with it,
// be its devices threads or processes. Knows nothing of devices, time or messages. Not thread-safe.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// One task of one step; ordered as a device takes its ready tasks.
struct Turn {
  std::uint32_t step = 0;
  TaskId task;
  auto operator<=>(const Turn&) const = default;
};

/// Tells `visit` of tasks, the last first; in place of a join, which no device does, of those that
/// it joins.
template <class Visit>
void latest_first(const Plan& plan, std::span<const TaskId> tasks, const Visit& visit) {
  for (std::size_t i = tasks.size(); i-- > 0;) {
    if (plan[tasks[i]].kind == TaskKind::join) {
      latest_first(plan, plan.dependencies(tasks[i]), visit);
    } else {
      visit(tasks[i]);
    }
  }
}

/// By step and task: gives each join the span of what it waits for, which ends with the last of
/// that.
void set_join_spans(const Plan& plan, std::span<Span> spans);

class Turns {
 public:
  using Visit = std::function<void(Turn)>;

  Turns(const Plan& plan, std::size_t steps)
      : Turns(plan, steps, std::vector<bool>(plan.size(), true), false) {}
  /// Of the tasks in which this process has a part. The others need no waiting: what must not begin
  /// before they have ended hears from them by a message. A join has no part anywhere: who waits
  /// for it waits for what it joins. As a task may then wait for nothing here, each follows itself
  /// in the step before.
  Turns(const Plan& plan, std::size_t steps, const std::vector<bool>& has_part)
      : Turns(plan, steps, has_part, true) {}

  /// Tells of all that waits for nothing; once, at the beginning.
  void start(const Visit& may_begin);
  /// The task has ended. Tells of each task that waited for it last.
  void complete(Turn turn, const Visit& may_begin);
  bool finished() const { return left_ == 0; }

 private:
  Turns(const Plan& plan, std::size_t steps, const std::vector<bool>& has_part,
        bool follow_themselves);
  void add(TaskId id, const std::vector<bool>& has_part, bool follows_itself);
  std::size_t slot(Turn turn) const { return turn.step * successors_.size() + turn.task(); }
  void release(Turn turn, const Visit& may_begin);

  const Plan& plan_;
  std::size_t steps_;
  std::vector<std::vector<TaskId>> successors_, carried_successors_;
  std::vector<std::uint32_t> waiting_;  // by slot: how many it still waits for
  std::vector<TaskId> tasks_;           // those with a part
  std::size_t left_ = 0;
};

}  // namespace strata
