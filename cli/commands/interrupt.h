#pragma once

// Ctrl-C asks a search to stop and say what it has; a second one ends the program.

#include <atomic>

namespace strata {

/// While one lives, the first SIGINT sets its flag. At most one at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>* get() const;
  bool is_set() const { return get()->load(); }
};

}  // namespace strata
