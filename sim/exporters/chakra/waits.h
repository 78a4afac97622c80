#pragma once

// What each device of a Plan waits for, seen from that device alone: an execution trace has a file
// a device, and a node may wait for nodes of its own file only. What a task waits for elsewhere
// comes with a message: a transfer's sender waits in its place, and the peers of a group or of an
// exchange do.

#include <span>
#include <utility>
#include <vector>

#include "sim/plan/plan.h"

namespace strata {

/// A task of one of several steps.
struct StepTask {
  std::size_t step = 0;
  TaskId task;
  auto operator<=>(const StepTask&) const = default;
};

/// Borrows the plan.
class Waits {
 public:
  explicit Waits(const Plan& plan);

  /// What happens on `device` that a task waits for where it happens there itself: on its own
  /// device, or a transfer on a sender's, too. Sorted, each once.
  std::vector<StepTask> on(DeviceId device, StepTask task) const;

  /// Of what its device has of an exchange, the transfer that stands for all; itself where it is no
  /// part of one.
  TaskId first_part(TaskId task) const;

  /// How many waits of the task no message carries: where flows were put together, a receiver also
  /// waits for producers that send it nothing.
  std::size_t left_out(StepTask task) const;

 private:
  std::vector<StepTask> all(StepTask task) const;
  void add(StepTask before, std::vector<StepTask>& found) const;
  bool is_sender(const Task& transfer, DeviceId device) const;
  bool happens_on(DeviceId device, const Task& task) const;
  std::span<const TaskId> parts(const Task& task) const;
  TaskId own_part(DeviceId device, const Task& peer) const;

  const Plan& plan_;
  std::vector<std::vector<TaskId>> exchanges_;  // their transfers
};

}  // namespace strata
