#pragma once

// One call of Executor::run(): the threads of the devices and what changes while they work.
// Internal to exec/runtime.

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "exec/runtime/dispatcher.h"
#include "exec/runtime/executor.h"
#include "exec/runtime/task_work.h"

namespace strata {

class Run {
 public:
  Run(Executor& executor, std::size_t steps, const BatchOf& batch_of,
      const std::atomic<bool>* cancelled);
  Execution execute();

 private:
  void work_on_all();
  void work(DeviceId device);
  [[noreturn]] void throw_error() const;
  std::optional<Turn> next(DeviceId device);
  bool may_go_on(DeviceId device) const;
  bool comes_soon(DeviceId device, std::unique_lock<std::mutex>& lock);
  void finish(Turn turn, Seconds start, Seconds end);
  void stop(std::exception_ptr error);
  Span& span(Turn turn) { return spans_[turn.step * plan_.size() + turn.task()]; }

  const Plan& plan_;
  Backend& backend_;
  TaskWork work_;
  const std::atomic<bool>* cancelled_;
  std::vector<Span> spans_;
  std::unique_ptr<TaskClock> clock_;
  const bool has_own_cores_;                 ///< each device its own
  std::atomic<std::uint32_t> finished_ = 0;  ///< tasks; for those who wait without the lock

  std::mutex mutex_;  // the members below
  Dispatcher dispatcher_;
  std::vector<std::condition_variable> turns_;  // by device
  std::exception_ptr error_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace strata
