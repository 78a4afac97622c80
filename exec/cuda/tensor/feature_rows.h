#pragma once

// Tensors as rows of features: a sample's elements in the order of a fully-connected layer's
// weights, c d h w.

#include "exec/cuda/tensor/move.h"

namespace strata::cuda {

/// Whether the tensor lies so already.
bool is_rows(const Box& box);

/// rows = the tensor's features, of the same type; and back.
void to_rows(const Region& tensor, void* rows, Type type, Stream& stream);
void from_rows(const void* rows, const Region& tensor, Type type, Stream& stream);

}  // namespace strata::cuda
