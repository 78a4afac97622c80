#pragma once

// Whose turn it is: every device takes the first of its ready tasks in plan order, step after step,
// as the simulator's devices do. Knows dependencies and nothing of time or threads; the caller
// brings both, and locks.

#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "exec/runtime/turns.h"

namespace strata {

class Dispatcher {
 public:
  /// Every task of `plan` occupies its device, or nothing at all (a join).
  Dispatcher(const Plan& plan, std::size_t steps);

  /// The device's next ready task, if any; it is then under way.
  std::optional<Turn> take(DeviceId device);
  bool has_turn(DeviceId device) const { return !ready_[device()].empty(); }
  /// The task has ended. `became_ready` is told of each task that waited for it last, joins
  /// included, which end by that.
  void complete(Turn turn, const Turns::Visit& became_ready);
  /// Tells of the tasks that wait for nothing; once, at the beginning.
  void start(const Turns::Visit& became_ready);

  bool finished() const { return turns_.finished(); }
  /// Nothing more will come for this device.
  bool finished(DeviceId device) const { return left_by_device_[device()] == 0; }

 private:
  void make_ready(Turn turn, const Turns::Visit& became_ready);
  void end(Turn turn, const Turns::Visit& became_ready);

  const Plan& plan_;
  Turns turns_;
  std::vector<std::priority_queue<Turn, std::vector<Turn>, std::greater<>>> ready_;  // by device
  std::vector<std::size_t> left_by_device_;
};

}  // namespace strata
