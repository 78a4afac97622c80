#pragma once

// The clock of a run's spans. Devices have one each where they have clocks of their own; cores
// share the steady one; tests bring one that stands still until every device works or rests.

#include <chrono>

#include "sim/base/units.h"
#include "sim/plan/plan.h"

namespace strata {

/// Counts from its own beginning. Thread-safe.
class TaskClock {
 public:
  virtual ~TaskClock() = default;

  /// Around a task, on its device's thread. The time between two tasks that follow one another on a
  /// device is the executor's own.
  virtual Seconds start(DeviceId device, TaskId task) = 0;
  virtual Seconds end(DeviceId device, TaskId task) = 0;

  /// The device has no turn, or none any more; and it has one again, said by whoever gave it,
  /// before anything else happens. Both may be said again.
  virtual void rest(DeviceId) {}
  virtual void wake(DeviceId) {}
};

class SteadyClock : public TaskClock {
 public:
  Seconds start(DeviceId, TaskId) override { return now(); }
  Seconds end(DeviceId, TaskId) override { return now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Seconds now() const { return {std::chrono::duration<double>(Clock::now() - begin_).count()}; }

  Clock::time_point begin_ = Clock::now();
};

}  // namespace strata
