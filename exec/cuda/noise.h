#pragma once

// What timing needs: numbers, for a GPU that multiplies zeros draws less power and runs faster; and
// a moment in which the host gets ahead.

#include "exec/cuda/move.h"

namespace strata::cuda {

/// Values in [-1, 1) that look drawn, the same each time.
void fill_with_noise(void* to, std::int64_t count, Type type, Stream& stream);

/// Keeps the GPU at nothing for 50 microseconds.
void hold(Stream& stream);

}  // namespace strata::cuda
