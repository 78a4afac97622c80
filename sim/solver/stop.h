#pragma once

// When a search has to end early: it was called off, or its time is up. The time starts when this
// is made. Thread-safe.

#include <chrono>

#include "sim/base/cancel.h"
#include "sim/solver/solution.h"

namespace strata {

class Stop {
 public:
  explicit Stop(const SolveLimits& limits)
      : cancelled_(limits.cancelled), seconds_(limits.time_limit) {}

  bool reached() const {
    return is_set(cancelled_) || (seconds_ < kInfinity && elapsed() >= seconds_);
  }
  /// Throws Cancelled.
  void check() const {
    if (reached()) throw Cancelled{};
  }

 private:
  using Clock = std::chrono::steady_clock;

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const std::atomic<bool>* cancelled_;
  double seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace strata
