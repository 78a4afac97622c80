#pragma once

// Long work that can be called off: whoever asked for it sets a flag, and the work looks at it
// between pieces.

#include <atomic>

namespace strata {

/// Thrown by work that was called off and has nothing to show. Not an Error: nothing is wrong.
struct Cancelled {};

inline bool is_set(const std::atomic<bool>* cancelled) {
  return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
}

inline void throw_if_cancelled(const std::atomic<bool>* cancelled) {
  if (is_set(cancelled)) throw Cancelled{};
}

}  // namespace strata
