#include "exec/calibrate/spin_probe.h"

#include <chrono>
#include <cstdint>

namespace strata {
namespace {

constexpr int kTurns = 300'000;

}  // namespace

Seconds spin() {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t x = 88172645463325252ULL;
  for (int i = 0; i < kTurns; ++i) {  // a chain that no compiler shortens (xorshift)
    x ^= x << 13U;
    x ^= x >> 7U;
    x ^= x << 17U;
  }
  volatile std::uint64_t sink = x;
  static_cast<void>(sink);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace strata
