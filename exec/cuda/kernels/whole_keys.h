#pragma once

// Keys of heads that share channels, whole: the channels of a head's own, then those that all
// share, for each head. All regions are of the same samples and positions, and of the type.

#include <cstdint>

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/kernel.h"

namespace strata::cuda {

/// `head_size`: channels of a whole key.
void join_keys(const Region& to, const Region& own, const Region& shared, std::int64_t head_size,
               Type type, Stream& stream);
/// Gradients of whole keys to those of what they are made of; of what is shared the sum over the
/// heads. A region without data is left out.
void part_keys(const Region& from, const Region& own, const Region& shared, std::int64_t head_size,
               Type type, Stream& stream);

}  // namespace strata::cuda
