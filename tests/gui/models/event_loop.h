#pragma once

// An event loop for tests of what lives in the window's thread, without a window.

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
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
  const QDeadlineTimer deadline(60000);
  while (!holds()) {
    if (deadline.hasExpired()) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 50);
  }
  return true;
}

}  // namespace strata::testing
