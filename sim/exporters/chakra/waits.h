#pragma once

// What each device of a Plan waits for, seen from that device alone: an execution trace has a file
// a device, and a node may wait for nodes of its own file only. What a task waits for elsewhere
// comes with a message: a transfer's sender waits in its place, and a group's peers do.

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
  explicit Waits(const Plan& plan) : plan_(plan) {}

  /// What happens on `device` that a task waits for where it happens there itself: on its own
  /// device, or a transfer on a sender's, too. Sorted, each once.
  std::vector<StepTask> on(DeviceId device, StepTask task) const;

  /// How many waits of the task no message carries: where flows were put together, a receiver also
  /// waits for producers that send it nothing.
  std::size_t left_out(StepTask task) const;

 private:
  std::vector<StepTask> all(StepTask task) const;
  void add(StepTask before, std::vector<StepTask>& found) const;
  bool is_sender(const Task& transfer, DeviceId device) const;
  TaskId own_part(DeviceId device, const Task& peer) const;

  const Plan& plan_;
};

}  // namespace strata
