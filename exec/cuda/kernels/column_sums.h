#pragma once

// Sums over a tensor's positions (n, d, h, w), one for each channel: the gradient of a bias.

#include "exec/cuda/streams/seat.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

/// sums[c] = the sum of all elements of channel c, in fp32 and always in the same order; zeros
/// where there are no positions. Works in the seat's scratch. T: float or Bf16.
template <class T>
void column_sums(const Tensor<T>& of, float* sums, Seat& seat);

extern template void column_sums(const Tensor<float>& of, float* sums, Seat& seat);
extern template void column_sums(const Tensor<Bf16>& of, float* sums, Seat& seat);

}  // namespace strata::cuda
