#pragma once

// Two Timelines of one Plan, predicted and measured, task by task: what each task took and how long
// it waited, which tasks the error of the step comes from, and how busy the devices were. All times
// are means over the steps of a Timeline's own steady window (Timeline::steady_window), so the two
// may have different numbers of steps. Values and pure functions; thread-safe.

#include <compare>
#include <span>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// The two parts of the time between the moment at which a task could run and its end.
struct TaskTimes {
  Seconds duration;
  Seconds queueing;  ///< from ready to start: for its device, or for its peers
  bool operator==(const TaskTimes&) const = default;
};

/// Differences are predicted less measured, as relative_error() is: negative where it took longer
/// than predicted.
struct TaskComparison {
  TaskTimes predicted, measured;
  Seconds duration_difference() const { return predicted.duration - measured.duration; }
  Seconds queueing_difference() const { return predicted.queueing - measured.queueing; }
  bool operator==(const TaskComparison&) const = default;
};

/// What tasks of one layer have in common that do the same: task_title() (sim/formats) calls them
/// alike.
struct TaskClass {
  LayerId layer;
  TaskKind kind = TaskKind::compute;
  Phase phase = Phase::forward;
  SyncAlgorithm algorithm = SyncAlgorithm::ring;  ///< of groups
  std::size_t layers = 1;                         ///< whose values a group sums at once
  auto operator<=>(const TaskClass&) const = default;
};
TaskClass class_of(const Plan& plan, const Task& task);

struct ErrorRow {
  TaskClass of;
  std::size_t tasks = 0;
  TaskTimes predicted, measured;  ///< sums over the tasks
  Seconds absolute_error;         ///< the sum of each task's |difference in duration|
  double share = 0;               ///< of all rows' absolute errors; 0 where there is none
  Seconds difference() const { return predicted.duration - measured.duration; }
  Seconds queueing_difference() const { return predicted.queueing - measured.queueing; }
  bool operator==(const ErrorRow&) const = default;
};

/// Of a step: the tasks that occupy the device, and the rest of the time between steps.
struct DeviceTimes {
  Seconds busy, idle;
  bool operator==(const DeviceTimes&) const = default;
};
struct DeviceComparison {
  DeviceTimes predicted, measured;
  bool operator==(const DeviceComparison&) const = default;
};

struct Comparison {
  Seconds predicted_step, measured_step;  ///< Timeline::step_seconds
  std::vector<TaskComparison> tasks;      ///< by TaskId
  std::vector<ErrorRow> rows;             ///< as explain_error gives them
  std::vector<DeviceComparison> devices;  ///< by DeviceId
  bool operator==(const Comparison&) const = default;
};

/// Both timelines are of `plan` and have a step at least.
Comparison compare(const Plan& plan, const Timeline& predicted, const Timeline& measured);

/// Task by task, by TaskId: both are of one plan.
std::vector<TaskComparison> compare(std::span<const TaskTimes> predicted,
                                    std::span<const TaskTimes> measured);

/// The means of every task, by TaskId.
std::vector<TaskTimes> mean_times(const Plan& plan, const Timeline& timeline);

/// Of each task, the medians of its durations and of its queueing over several mean_times of one
/// plan: what a single one suffered, being preempted, is not typical. `times`: one at least.
std::vector<TaskTimes> median_times(std::span<const std::vector<TaskTimes>> times);

/// The largest absolute error first; equal ones by class. Joins, which take no
/// time, have no row. Errors of opposite signs in one row don't hide each other: they cancel in its
/// difference only. `tasks` by TaskId.
std::vector<ErrorRow> explain_error(const Plan& plan, std::span<const TaskComparison> tasks);

/// By DeviceId.
std::vector<DeviceTimes> device_times(const Plan& plan, const Timeline& timeline);

}  // namespace strata
