#pragma once

// Where devices' threads wait for each other while they are measured, just as a run's threads do
// (exec/runtime/spin.h). If they slept at once, they would get their cores back at once from
// whatever else runs there, so that all the time lost to others would fall into waits, none into
// what is measured, and a busy machine's steps would be predicted too short. Thread-safe.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "sim/measure/runner.h"

namespace strata {

class Meeting {
 public:
  /// `keeps_core`: whether threads spin before they sleep.
  Meeting(std::size_t threads, bool keeps_core) : threads_(threads), keeps_core_(keeps_core) {}

  /// Until all that have not left are here. Nothing for the last one, who waits for nobody.
  std::optional<Wait> arrive_and_wait();
  /// Nobody waits for this thread any more.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  bool open_if_complete();

  std::mutex mutex_;  // the two numbers
  std::size_t threads_, arrived_ = 0;
  Clock::time_point opened_at_;            // written before opened_, read after it
  std::atomic<std::uint32_t> opened_ = 0;  // how often
  bool keeps_core_;
};

}  // namespace strata
