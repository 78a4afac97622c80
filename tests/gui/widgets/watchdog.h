#pragma once

// How long the window's thread was away from its events: an application that takes the time of
// every event that it hands out. What counts is the time that the thread worked or waited for
// something; while other processes had its core (as on a loaded machine) it could do neither.

#include <QApplication>
#include <QEvent>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace strata::testing {

class WatchedApplication : public QApplication {
 public:
  struct Absence {
    double seconds = 0;
    std::string during;  ///< "QEvent::Type 12 of strata::gui::NetworkCanvas"
  };

  using QApplication::QApplication;

  /// The longest since the last call.
  Absence longest() { return std::exchange(longest_, {}); }

  bool notify(QObject* receiver, QEvent* event) override {
    if (depth_ > 0) return QApplication::notify(receiver, event);
    const char* const name = receiver->metaObject()->className();
    const int type = event->type();  // both may be gone afterwards
    const double begin = own_time();
    ++depth_;
    const bool handled = QApplication::notify(receiver, event);
    --depth_;
    const double seconds = own_time() - begin;
    if (seconds > longest_.seconds)
      longest_ = {seconds, fmt::format("QEvent::Type {} of {}", type, name)};
    return handled;
  }

 private:
  // The clock, less the time that this thread stood in line for a core.
  static double own_time() {
    using Clock = std::chrono::steady_clock;
    const double now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    thread_local std::ifstream file("/proc/thread-self/schedstat");
    file.clear();
    file.seekg(0);  // it is read anew
    std::uint64_t ran = 0, in_line = 0;
    file >> ran >> in_line;
    return now - static_cast<double>(in_line) * 1e-9;
  }

  int depth_ = 0;  // an event that a handler makes is a part of it
  Absence longest_;
};

}  // namespace strata::testing
