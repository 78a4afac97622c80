#pragma once

// Whose turn it is: every device takes the first of its ready tasks in plan order, step after step,
// as the simulator's devices do. Knows dependencies and nothing of time or threads; the caller
// brings both, and locks.

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/plan/plan.h"

namespace strata {

/// One task of one step.
struct Turn {
  std::uint32_t step = 0;
  TaskId task;
  bool operator==(const Turn&) const = default;
};

class Dispatcher {
 public:
  /// Every task of `plan` occupies its device, or nothing at all (a join).
  Dispatcher(const Plan& plan, std::size_t steps);

  /// The device's next ready task, if any; it is then under way.
  std::optional<Turn> take(DeviceId device);
  bool has_turn(DeviceId device) const { return !ready_[device()].empty(); }
  /// The task has ended. `became_ready` is told of each task that waited for it last, joins
  /// included, which end by that.
  void complete(Turn turn, const std::function<void(Turn)>& became_ready);
  /// Tells of the tasks that wait for nothing; once, at the beginning.
  void start(const std::function<void(Turn)>& became_ready);

  bool finished() const { return left_ == 0; }
  /// Nothing more will come for this device.
  bool finished(DeviceId device) const { return left_by_device_[device()] == 0; }

 private:
  std::size_t slot(Turn turn) const { return turn.step * plan_.size() + turn.task(); }
  Turn turn_at(std::size_t slot) const;
  void release(Turn turn, const std::function<void(Turn)>& became_ready);
  void make_ready(Turn turn, const std::function<void(Turn)>& became_ready);
  void end(Turn turn, const std::function<void(Turn)>& became_ready);

  using Queue = std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>;

  const Plan& plan_;
  std::size_t steps_;
  std::vector<std::vector<TaskId>> successors_, carried_successors_;
  std::vector<std::uint32_t> waiting_;  // by slot: how many it still waits for
  std::vector<Queue> ready_;            // by device
  std::size_t left_ = 0;
  std::vector<std::size_t> left_by_device_;
};

}  // namespace strata
