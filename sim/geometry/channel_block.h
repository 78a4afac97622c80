#pragma once

// Tensors whose channels lie in blocks, (n, c/B, d, h, w, B) with the last block padded, as vector
// units of CPUs like them. What has fewer than B/2 channels (images) and spatial extent is not
// blocked. Pure functions; thread-safe.

#include <cstdint>

#include "sim/geometry/geometry.h"

namespace strata {

/// The block of a tensor of these extents, where those of many channels have `block`: that, or 1.
constexpr std::int64_t channel_block_of(const Extents& e, std::int64_t block) {
  const bool few = 2 * e[Dim::c] < block && e[Dim::d] * e[Dim::h] * e[Dim::w] > 1;
  return few ? 1 : block;
}

/// The elements that it has room for, padding included.
constexpr std::int64_t padded_volume(const Extents& e, std::int64_t block) {
  const std::int64_t own = channel_block_of(e, block);
  const std::int64_t channels = (e[Dim::c] + own - 1) / own * own;
  return e[Dim::n] * channels * e[Dim::d] * e[Dim::h] * e[Dim::w];
}

}  // namespace strata
