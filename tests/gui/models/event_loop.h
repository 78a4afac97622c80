#pragma once

// An event loop for tests of what lives in the window's thread, without a window.

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
#include <QTimer>
#include <functional>

namespace strata::testing {

/// The one application of a test program; made when first asked for, where main made none.
inline QCoreApplication& application() {
  if (QCoreApplication::instance() != nullptr) return *QCoreApplication::instance();
  static int argc = 1;
  static char name[] = "test";
  static char* argv[] = {name, nullptr};
  static QCoreApplication app(argc, argv);
  return app;
}

/// Handles events until this holds; false where it does not within a minute.
inline bool wait_until(const std::function<bool()>& holds) {
  application();
  const QDeadlineTimer deadline(180000);  // searches take a minute under a sanitizer
  QTimer tick;  // what does not come as an event is looked at every few milliseconds
  tick.start(5);
  while (!holds()) {
    if (deadline.hasExpired()) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  return true;
}

}  // namespace strata::testing
