#pragma once

// Rotary positions (Su et al., "RoFormer", 2021): pair (i, i + r/2) of the r of a head's channels
// that are turned at position p is turned by the angle p base^(-2 i / r).

#include <cstdint>

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/kernel.h"

namespace strata::cuda {

/// Largest head_size that rotary_pairs() takes, and the loops of attention.
inline constexpr std::int64_t kMostHeadChannels = 256;

struct RotaryPairs {
  std::int64_t pairs = 0;               ///< in a head
  std::int64_t first = 0;               ///< channel that is turned
  std::int64_t head_size = 0;           ///< in channels; those around the pairs stay
  double turns[kMostHeadChannels / 2];  ///< of each pair, whole turns that a position adds
};
/// `base` > 0, `channels` that are turned, an even number, of `head_size`, at most
/// kMostHeadChannels.
RotaryPairs rotary_pairs(double base, Interval channels, std::int64_t head_size);

/// to = the turned heads of `from`, by global positions; `way`: 1, or -1 back. Both are of one box,
/// of whole heads, and of the type; they may be one.
void turn_heads(const Region& to, const Region& from, const RotaryPairs& pairs, int way, Type type,
                Stream& stream);

}  // namespace strata::cuda
