#pragma once

// What timing needs: numbers, for a GPU that multiplies zeros draws less power and runs faster.

#include "exec/cuda/tensor/move.h"

namespace strata::cuda {

/// Looks drawn: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
STRATA_ANYWHERE inline std::uint64_t scrambled(std::int64_t i) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

/// Values in [-1, 1) that look drawn, the same each time.
void fill_with_noise(void* to, std::int64_t count, Type type, Stream& stream);

}  // namespace strata::cuda
