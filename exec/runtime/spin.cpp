#include "exec/runtime/spin.h"

namespace strata {
namespace {

// Leaves the core's other thread what it has.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool spin_while(const std::atomic<std::uint32_t>& number, std::uint32_t seen,
                std::chrono::steady_clock::time_point until) {
  while (number == seen) {
    if (std::chrono::steady_clock::now() >= until) return false;
    relax();
  }
  return true;
}

}  // namespace strata
