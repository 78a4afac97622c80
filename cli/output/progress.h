#pragma once

// How far a search or a training is, on one line of the terminal that is written over; nothing
// where standard error is no terminal.

#include <chrono>
#include <cstddef>
#include <string>

#include "sim/solver/solution.h"

namespace strata {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// At most ten times a second, but each new stage at once.
  void show(const SolveProgress& progress);
  /// The same for other work: `text` says all.
  void show(const std::string& stage, const std::string& text);
  void clear();

 private:
  void write(const std::string& line);

  bool on_terminal_;
  std::size_t width_ = 0;  ///< of what stands there
  std::string stage_;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace strata
