#pragma once

// What timing needs: numbers, for a GPU that multiplies zeros draws less power and runs faster.

#include "exec/cuda/tensor/move.h"

namespace strata::cuda {

/// Values in [-1, 1) that look drawn, the same each time.
void fill_with_noise(void* to, std::int64_t count, Type type, Stream& stream);

}  // namespace strata::cuda
