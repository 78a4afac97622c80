#pragma once

// Rotary positions (Su et al., "RoFormer", 2021): pair (i, i + head_size/2) of a head's channels at
// position p is turned by the angle p base^(-2 i / head_size).

#include <cstdint>

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/kernel.h"

namespace strata::cuda {

/// Largest head_size that rotary_turns() takes, and the loops of attention.
inline constexpr std::int64_t kMostHeadChannels = 256;

struct RotaryPairs {
  std::int64_t pairs = 0;               ///< in a head
  double turns[kMostHeadChannels / 2];  ///< of each pair, whole turns that a position adds
};
/// `base` > 0, `head_size` even and at most kMostHeadChannels.
RotaryPairs rotary_pairs(double base, std::int64_t head_size);

/// to = the turned heads of `from`, by global positions; `way`: 1, or -1 back. Both are of one box,
/// of whole heads, and of the type; they may be one.
void turn_heads(const Region& to, const Region& from, const RotaryPairs& pairs, int way, Type type,
                Stream& stream);

}  // namespace strata::cuda
