#pragma once

// Several pieces of a seat's scratch memory at once.

#include <array>
#include <cstddef>
#include <cstdint>

#include "exec/cuda/streams/seat.h"

namespace strata::cuda {

/// Of `bytes` each, aligned to 512; null for none. The caller's until the seat's scratch is asked
/// for again.
template <std::size_t N>
std::array<void*, N> scratch_pieces(Seat& seat, const std::int64_t (&bytes)[N]) {
  constexpr std::int64_t kPieceAlignment = 512;
  const auto rounded = [](std::int64_t size) {
    return (size + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  };
  std::int64_t total = 0;
  for (std::int64_t size : bytes) total += rounded(size);
  std::array<void*, N> pieces{};
  if (total == 0) return pieces;
  auto* at = static_cast<std::byte*>(seat.scratch(total));
  for (std::size_t k = 0; k < N; ++k) {
    if (bytes[k] > 0) pieces[k] = at;
    at += rounded(bytes[k]);
  }
  return pieces;
}

}  // namespace strata::cuda
