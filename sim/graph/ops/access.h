#pragma once

// What an op reads of an input for a box of its output: an access map says it for each dim by
// itself. Regions, the search's edge axes, halos and volumes follow from it. Values; thread-safe.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "sim/geometry/geometry.h"
#include "sim/graph/ops/window.h"

namespace strata {

namespace access {

/// Element i of the output needs element i.
struct Same {
  constexpr auto operator<=>(const Same&) const = default;
};
/// Any element of the output needs all of the dim.
struct Whole {
  constexpr auto operator<=>(const Whole&) const = default;
};
/// Any element of the output is a sum over all of the dim: the reduction, of which a shard needs
/// the terms that it adds up.
struct Reduced {
  constexpr auto operator<=>(const Reduced&) const = default;
};
/// Output o needs what the window taps.
struct Windowed {
  Window window;
  constexpr auto operator<=>(const Windowed&) const = default;
};
/// Output o of `outputs` needs elements [floor(o S / outputs), ceil((o+1) S / outputs)) of S.
struct Bins {
  std::int64_t outputs = 1;
  constexpr auto operator<=>(const Bins&) const = default;
};
/// Any of the b-th `outputs` outputs needs all of the b-th `inputs` elements.
struct Blocks {
  std::int64_t outputs = 1, inputs = 1;
  constexpr auto operator<=>(const Blocks&) const = default;
};
/// Output o needs elements o - before ... o + after.
struct Neighbours {
  std::int64_t before = 0, after = 0;
  constexpr auto operator<=>(const Neighbours&) const = default;
};
/// The input is elements `begin`, `begin` + 1, ... of the output; with a negative `begin`, the
/// output is elements -`begin`, ... of the input.
struct Slice {
  std::int64_t begin = 0;
  constexpr auto operator<=>(const Slice&) const = default;
};

}  // namespace access

using DimAccess = std::variant<access::Same, access::Whole, access::Reduced, access::Windowed,
                               access::Bins, access::Blocks, access::Neighbours, access::Slice>;

/// Through a window, of which one element taps the same.
inline DimAccess through(const Window& window) {
  if (window == Window{}) return access::Same{};
  return access::Windowed{window};
}

/// What `output`, an interval of the op's output, needs along the same dim of an input of this
/// extent: empty (begin >= end), or within [0, extent). `terms`: of the sums, those that are added.
Interval needed(const DimAccess& access, Interval output, std::int64_t extent,
                Interval terms = Tile::kAllTerms);

struct AccessMap {
  PerDim<DimAccess> dims;  ///< of the input, each by the same dim of the output
  /// The output's c is the input's c, d, h and w in row-major order, of which its interval needs a
  /// run; `dims` then says what n needs alone.
  bool row_major = false;
  auto operator<=>(const AccessMap&) const = default;

  /// Whether elements of the dim are read through a window, in bins, or with their neighbours, so
  /// that a cut of the output needs a halo of the input.
  bool reads_neighbours(Dim dim) const;
  /// Whether any element of the output needs all of the dim.
  bool is_whole(Dim dim) const;
  /// Whether the dim's elements are the terms of the output's sums.
  bool is_reduced(Dim dim) const;
};

/// What the map of an input depends on beside the op.
struct ReadContext {
  Extents extents;                   ///< of the input
  Extents output;                    ///< of the layer
  std::int64_t channels_before = 0;  ///< of the inputs that stand before it
  std::size_t input = 0;             ///< its number among the inputs
};

/// Element i of the output needs element i of the input.
inline constexpr AccessMap kSameElement{};
/// Of the same samples all d, h and w; the channels are the terms of the output's sums.
inline constexpr AccessMap kReducedChannels = {
    {{access::Same{}, access::Reduced{}, access::Whole{}, access::Whole{}, access::Whole{}}}};
/// All of the same samples.
inline constexpr AccessMap kWholeSample = {
    {{access::Same{}, access::Whole{}, access::Whole{}, access::Whole{}, access::Whole{}}}};

}  // namespace strata
