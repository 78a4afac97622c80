#pragma once

// A value for each channel, fp32, over a whole tensor.

#include "exec/cuda/tensor/move.h"

namespace strata::cuda {

/// to[..., c] += bias[c].
void add_bias(const Region& to, const float* bias, Type type, Stream& stream);
/// to[..., c] = bias[c]; zero without a bias.
void fill_bias(const Region& to, const float* bias, Type type, Stream& stream);

}  // namespace strata::cuda
