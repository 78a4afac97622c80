#pragma once

// Sums over a tensor's positions (n, d, h, w), one for each channel: the gradient of a bias.

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/kernel.h"

namespace strata::cuda {

/// sums[c] = the sum of all elements of channel c, in fp32 and always in the same order, or added
/// to what lies there; zeros where there are no positions. Works in the seat's scratch, on tensors
/// of its type.
void column_sums(const Region& of, float* sums, Seat& seat, bool adds = false);

}  // namespace strata::cuda
