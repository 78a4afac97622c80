#pragma once

// Whether something blocked the window: a thread asks the window's thread to answer, over and over,
// and notes how long the answer took.

#include <QCoreApplication>
#include <QMetaObject>
#include <QSemaphore>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace strata::testing {

class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    stop_ = true;
    thread_.join();
  }

  /// The longest time in seconds that an event waited for the window's thread so far.
  double longest() const { return longest_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch() {
    while (!stop_) {
      const Clock::time_point asked = Clock::now();
      auto answered = std::make_shared<QSemaphore>();
      QMetaObject::invokeMethod(
          QCoreApplication::instance(), [answered] { answered->release(); }, Qt::QueuedConnection);
      while (!stop_ && !answered->tryAcquire(1, 5)) {
      }
      const double waited = std::chrono::duration<double>(Clock::now() - asked).count();
      longest_ = std::max(longest_.load(), waited);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<double> longest_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace strata::testing
