#pragma once

// What the hosts of devices launch (Launches, runtime.h), as activities beside those of the plan's
// tasks: a host launches one thing after another, in plan order, and a task waits for its launch.
// For each task in plan order: launch(), then the task's own activities, then added(). Then
// connect() for each, and carry().

#include <span>
#include <vector>

#include "sim/simulate/plan_workload.h"

namespace strata {

class HostLaunches {
 public:
  /// Adds nothing where no launch takes time. `costs`: by task. Plan and costs must outlive this.
  HostLaunches(const Plan& plan, std::span<const Cost> costs, const Launches& each);

  bool empty() const { return hosts_.empty(); }
  std::size_t hosts() const { return hosts_.size(); }
  /// Adds the launch of a task whose own activities come next, in plan order.
  void launch(TaskId id, PlanWorkload& built);
  /// The task's activities are added: its host may wait for them before its next pass.
  void added(TaskId id, const PlanWorkload& built);
  /// The task waits for its launch.
  void connect(TaskId id, PlanWorkload& built);
  /// What a step waits for of the step before it.
  void carry(std::vector<Dependency>& carried) const;

 private:
  // A layer that is computed again is part of the backward pass. Updates go with the pass before.
  struct Pass {
    bool forward = true;
    std::uint32_t round = 0;
    bool operator==(const Pass&) const = default;
  };
  // What a device's host launches in a step, one after another.
  struct Host {
    ActivityId first, last;
    ActivityId last_task;  // of the device's own tasks, in plan order
    Pass pass;             // of the last launch
    ActivityId before;     // the device's last task before the next launch
    ActivityId computed;   // the same, where the host waits for it between passes
  };
  static Pass pass_of(const Task& task);

  const Plan& plan_;
  std::span<const Cost> costs_;
  Launches each_;
  std::vector<Host> hosts_;  // by device; none where no launch takes time
};

/// What the hosts of the devices take to launch what these do in some rounds; by device.
std::vector<Seconds> launch_times(const Plan& plan, std::span<const Cost> costs,
                                  const Launches& launches, Rounds rounds);

}  // namespace strata
