#pragma once

// Long work that Python asked for: Ctrl-C stops it, and it says how far it is. Made and destroyed
// with the interpreter's lock held, while the work itself runs without.

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include <pybind11/pybind11.h>

#include "sim/base/cancel.h"

namespace strata::python {

/// While one lives in the main thread, SIGINT sets cancelled() beside what Python does about it.
/// In other threads signals are nobody's, as usual in Python.
class Work {
 public:
  /// `told`: a function of one text, or None.
  explicit Work(pybind11::object told);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  const std::atomic<bool>* cancelled() const { return flag_; }
  /// Whether anybody is told how far the work is.
  bool is_told() const { return !told_.is_none(); }
  /// At most ten times a second, but of each new stage at once. By any thread, without the
  /// interpreter's lock.
  void tell(std::string_view stage, const std::string& text);

  /// Of work that was cancelled: raises what its function raised, or KeyboardInterrupt, or
  /// Cancelled where a handler of SIGINT raised nothing.
  void raise_reason();

 private:
  bool is_due(std::string_view stage);

  pybind11::object told_;
  bool main_thread_ = false;
  std::atomic<bool> own_flag_{false};
  std::atomic<bool>* flag_ = &own_flag_;
  std::exception_ptr error_;

  std::mutex lock_;
  std::string stage_;
  std::chrono::steady_clock::time_point last_;
};

/// What function() returns, called without the interpreter's lock. What it has to tell when it is
/// cancelled, such as the best that a search has found so far, is dropped.
template <class Function>
auto without_lock(Work& work, const Function& function) {
  try {
    auto result = [&function] {
      const pybind11::gil_scoped_release released;
      return function();
    }();
    if (is_set(work.cancelled())) work.raise_reason();
    return result;
  } catch (const Cancelled&) {
    work.raise_reason();
    throw;
  }
}

}  // namespace strata::python
