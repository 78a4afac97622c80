#pragma once

// Windows that slide over d, h and w; a dim that an op does not slide over has kernel 1, stride 1,
// no padding, dilation 1. Values; thread-safe.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/geometry/geometry.h"

namespace strata {

/// A sliding window along one spatial dim, in elements.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t dilation = 1;

  constexpr auto operator<=>(const Window&) const = default;
};

struct Windows {
  Window d, h, w;

  constexpr const Window& operator[](Dim dim) const {
    return dim == Dim::d ? d : dim == Dim::h ? h : w;
  }
  constexpr Window& operator[](Dim dim) { return dim == Dim::d ? d : dim == Dim::h ? h : w; }
  constexpr auto operator<=>(const Windows&) const = default;
};

using AlongDims = std::array<std::int64_t, 3>;  ///< d, h, w

/// The dims that a window of this rank slides over: w; h, w; or d, h, w.
constexpr std::span<const Dim> dims_of_rank(int rank) {
  return std::span(kSpatialDims).last(static_cast<std::size_t>(rank));
}
bool slides_over(Dim dim, int rank);

/// Throws InputError, which names the dim, for a window that is out of bounds, or slides over a dim
/// beyond the rank.
void check_window(const Window& window, Dim dim, int rank);
/// Throws InputError for a padding of more than half the window, which could lie in it alone.
void check_pool_padding(const Window& window, Dim dim);

/// How many places a window has along an extent: of a convolution, and of a pooling as PyTorch
/// defines ceil_mode, where the last window may hang over the end, but must start inside the input
/// or the padding before it. Throw InputError, which names the dim, where it does not fit.
std::int64_t convolved(const Window& window, std::int64_t extent, Dim dim);
std::int64_t pooled(const Window& window, bool ceil_mode, std::int64_t extent, Dim dim);

/// The hull of the elements of [0, extent) that the window taps for these outputs, where output o
/// taps o * stride - pad_begin + j * dilation for j in [0, kernel). Empty (begin >= end) where it
/// taps none.
Interval tapped(const Window& window, Interval outputs, std::int64_t extent);

}  // namespace strata
