#pragma once

// Why a task of a Timeline started when it did, not earlier: the task that it waited for last.
// Several may have ended at that moment; which of them is taken depends on what they do and when,
// not on their numbers, so that a plan by classes finds what one of all devices finds.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/timeline/timeline.h"

namespace strata {

/// Why a task did not start earlier.
enum class Bound : std::uint8_t {
  start,       ///< nothing: the timeline begins here
  dependency,  ///< it waited for the task before it on the path
  resource     ///< it was ready, but its device worked on the task before it on the path; without
               ///< overlap also: moved something
};

/// A task of one step.
struct TaskOfStep {
  std::uint32_t step = 0;
  TaskId task;
  bool operator==(const TaskOfStep&) const = default;
};

struct Cause {
  TaskOfStep of;
  Bound bound = Bound::dependency;
};

/// Keeps the plan and the timeline, which must outlive it. Each thread needs its own.
class Causes {
 public:
  Causes(const Plan& plan, const Timeline& timeline);

  /// Nothing where the timeline begins with the task. A dependency may have ended before the task
  /// started, where nothing explains the time between.
  std::optional<Cause> of(TaskOfStep at) const;

  /// Of the tasks of `step` for which that of the next step waits: the one that ended last. Nothing
  /// where it waits for none.
  std::optional<TaskOfStep> carried(TaskId task, std::uint32_t step) const;

  /// The tasks that ended at a time.
  struct End {
    Seconds at;
    TaskOfStep of;
  };
  /// What occupied the device for any time, in order.
  std::span<const End> work(DeviceId device) const { return ends_[device()]; }

  const Span& span(TaskOfStep at) const { return timeline_.span(at.step, at.task); }
  /// Of two that ended at the same time: whether a is taken before b.
  bool precedes(TaskOfStep a, TaskOfStep b) const;

 private:
  void index_work();
  void index_exchanges();
  /// Takes `before` as the latest where it is.
  void consider(TaskOfStep before, std::optional<TaskOfStep>& latest) const;
  std::span<const TaskId> waiting_with(const TaskId& id) const;
  std::optional<TaskOfStep> turn_before(TaskOfStep of) const;
  void index_turns() const;
  std::vector<DeviceId> devices_of(TaskId id) const;
  std::optional<TaskOfStep> latest_dependency(TaskOfStep of) const;

  const Plan& plan_;
  const Timeline& timeline_;
  std::vector<std::vector<End>> ends_;           // of work, by device, in order of time
  std::vector<std::vector<TaskId>> exchanges_;   // the transfers of each of the plan
  mutable std::vector<std::vector<End>> turns_;  // of moves, too; made when first asked for
};

}  // namespace strata
