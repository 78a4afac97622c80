#pragma once

// A time limit as a flag to look at (cancel.h): it is set once the time is up, or once another flag
// is, so that whoever can be called off keeps a time limit too.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <stop_token>
#include <thread>

#include "sim/base/cancel.h"

namespace strata {

class Deadline {
 public:
  /// `seconds` from now; infinite: never. `also`: another flag to follow, or null.
  Deadline(double seconds, const std::atomic<bool>* also) : also_(also) {
    if (seconds == std::numeric_limits<double>::infinity()) return;
    limited_ = true;
    over_ = seconds <= 0;
    if (over_) return;
    const auto start = std::chrono::steady_clock::now();
    watch_ = std::jthread([this, start, seconds](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (passed.count() >= seconds || strata::is_set(also_)) return over_.store(true);
        std::unique_lock lock(lock_);
        waking_.wait_for(lock, stop, std::chrono::milliseconds(5), [] { return false; });
      }
    });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  const std::atomic<bool>* flag() const { return limited_ ? &over_ : also_; }

 private:
  const std::atomic<bool>* also_;
  bool limited_ = false;
  std::atomic<bool> over_{false};
  std::mutex lock_;
  std::condition_variable_any waking_;
  std::jthread watch_;  // last: it ends before what it looks at
};

}  // namespace strata
