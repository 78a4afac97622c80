#pragma once

// Regions of tensors. Every activation has the five dims n c d h w; what a layer lacks has
// extent 1. A Box is a half-open interval in each dim, in elements. Values; thread-safe.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace strata {

/// The dims of Section 4, Table 1: sample, channel, depth, height, width (a 1-D signal's length
/// is its width).
enum class Dim : std::uint8_t { n, c, d, h, w };
inline constexpr std::array<Dim, 5> kDims = {Dim::n, Dim::c, Dim::d, Dim::h, Dim::w};
inline constexpr std::array<Dim, 3> kSpatialDims = {Dim::d, Dim::h, Dim::w};
inline constexpr std::array<std::string_view, 5> kDimNames = {"n", "c", "d", "h", "w"};
constexpr std::string_view name(Dim dim) {
  return kDimNames[static_cast<std::size_t>(dim)];
}
constexpr std::optional<Dim> find_dim(std::string_view name) {
  for (std::size_t i = 0; i < kDims.size(); ++i) {
    if (kDimNames[i] == name) return kDims[i];
  }
  return std::nullopt;
}

template <class T>
struct PerDim {
  std::array<T, 5> values{};

  constexpr T& operator[](Dim dim) { return values[static_cast<std::size_t>(dim)]; }
  constexpr const T& operator[](Dim dim) const { return values[static_cast<std::size_t>(dim)]; }
  constexpr auto operator<=>(const PerDim&) const = default;
};

/// A tensor's size in each dim, in elements.
using Extents = PerDim<std::int64_t>;

/// In how many parts each loop of a layer is cut: the dims of its output (Section 4's
/// configuration), and its reduction, the terms that each output element is the sum of. Shards that
/// differ in the reduction alone make parts of the same sums. Then each of them owns the sums of
/// one part of the output, cut along `scatter`. Where there is nothing to sum, these shards are
/// copies: each computes and holds the whole output, and owns a part of its gradient.
struct Degrees : PerDim<std::int32_t> {
  std::int32_t r = 1;
  Dim scatter = Dim::n;  ///< n where r is 1

  constexpr auto operator<=>(const Degrees&) const = default;
};

inline constexpr Degrees kWhole = {{1, 1, 1, 1, 1}};

/// How the output lies: the degrees of its owners, who are as many as the shards.
constexpr Degrees output_degrees(const Degrees& degrees) {
  Degrees owners{degrees};
  owners[degrees.scatter] *= degrees.r;
  owners.r = 1;
  owners.scatter = Dim::n;
  return owners;
}

constexpr std::int64_t volume(const Extents& e) {
  std::int64_t v = 1;
  for (Dim dim : kDims) v *= e[dim];
  return v;
}
constexpr std::int64_t product(const Degrees& d) {
  std::int64_t v = d.r;
  for (Dim dim : kDims) v *= d[dim];
  return v;
}

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end > begin ? end - begin : 0; }
  constexpr bool empty() const { return end <= begin; }
  constexpr auto operator<=>(const Interval&) const = default;
};
constexpr Interval intersect(Interval a, Interval b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// A region of a tensor. Empty when it is empty in any dim.
using Box = PerDim<Interval>;

constexpr std::int64_t volume(const Box& box) {
  std::int64_t v = 1;
  for (Dim dim : kDims) v *= box[dim].size();
  return v;
}
constexpr bool empty(const Box& box) {
  return volume(box) == 0;
}
constexpr Box whole(const Extents& e) {
  Box box;
  for (Dim dim : kDims) box[dim] = {0, e[dim]};
  return box;
}
constexpr Extents extents(const Box& box) {
  Extents e;
  for (Dim dim : kDims) e[dim] = box[dim].size();
  return e;
}
constexpr Box intersect(const Box& a, const Box& b) {
  Box box;
  for (Dim dim : kDims) box[dim] = intersect(a[dim], b[dim]);
  return box;
}

/// What one shard computes: a box of the output and of each element's sum the terms in `terms`;
/// all of them where nothing else is said.
struct Tile : Box {
  static constexpr Interval kAllTerms = {0, std::numeric_limits<std::int64_t>::max()};
  Interval terms = kAllTerms;

  constexpr Tile() = default;
  constexpr Tile(const Box& output, Interval of_sum = kAllTerms) : Box(output), terms(of_sum) {}
  constexpr auto operator<=>(const Tile&) const = default;
};

/// Part i of an extent S under degree d: [floor(i S / d), floor((i+1) S / d)).
constexpr Interval part(std::int64_t extent, std::int32_t degree, std::int64_t i) {
  return {i * extent / degree, (i + 1) * extent / degree};
}

/// The parts of `extent` under `degree` that `range` touches, as [first, last). Empty for an empty
/// range.
constexpr Interval parts_touching(std::int64_t extent, std::int32_t degree, Interval range) {
  if (range.empty()) return {0, 0};
  // The part that holds x is the last i with floor(i S / d) <= x, i.e. ceil((x+1) d / S) - 1.
  auto holder = [&](std::int64_t x) { return ((x + 1) * degree + extent - 1) / extent - 1; };
  return {holder(range.begin), holder(range.end - 1) + 1};
}

/// Where the part of `to` lies that has the number of `range`, a part of `from`, under the least
/// degree that has such a part. A range that is no part is scaled.
constexpr Interval same_part(std::int64_t from, Interval range, std::int64_t to) {
  for (std::int32_t degree = 1; degree <= from && from / degree + 1 >= range.size(); ++degree) {
    const std::int64_t i = parts_touching(from, degree, range).begin;
    if (part(from, degree, i) == range) return part(to, degree, i);
  }
  return {range.begin * to / from, range.end * to / from};
}

/// An equal partitioning of a layer's work, and of its output, over product(degrees) shards. Shards
/// are numbered row-major over n, c, d, h, w as they own the output; those of one sum stand side by
/// side along `scatter`. Invariant: output_degrees(degrees) is from 1 to the extent in every dim
/// and r from 1 to the reduction, or more than 1 where that is 1, so that no shard is empty.
class Partition {
 public:
  /// `reduction`: the terms of each output element's sum, of which degrees.r parts are made.
  constexpr Partition(const Extents& tensor, const Degrees& degrees, std::int64_t reduction = 1)
      : extents_(tensor),
        degrees_(degrees),
        owners_(output_degrees(degrees)),
        reduction_(reduction) {}

  constexpr const Extents& extents() const { return extents_; }
  /// Of the output's owners.
  constexpr const Degrees& owners() const { return owners_; }
  constexpr std::int64_t shard_count() const { return product(degrees_); }
  /// Whether shards that differ in the reduction alone are copies.
  constexpr bool repeats() const { return degrees_.r > 1 && reduction_ == 1; }

  /// The shard's coordinate in each dim of the output's owners.
  constexpr PerDim<std::int32_t> coordinates(std::int64_t shard) const {
    PerDim<std::int32_t> at;
    for (std::size_t k = kDims.size(); k-- > 0;) {
      at.values[k] = static_cast<std::int32_t>(shard % owners_.values[k]);
      shard /= owners_.values[k];
    }
    return at;
  }
  constexpr std::int64_t shard_at(const PerDim<std::int32_t>& at) const {
    std::int64_t shard = 0;
    for (Dim dim : kDims) shard = shard * owners_[dim] + at[dim];
    return shard;
  }
  /// What the shard owns of the output.
  constexpr Box box(const PerDim<std::int32_t>& at) const {
    Box box;
    for (Dim dim : kDims) box[dim] = part(extents_[dim], owners_[dim], at[dim]);
    return box;
  }
  constexpr Box box(std::int64_t shard) const { return box(coordinates(shard)); }
  /// What it computes.
  constexpr Tile tile(const PerDim<std::int32_t>& at) const {
    Tile tile(box(at), {0, reduction_});
    if (degrees_.r == 1) return tile;
    const Dim dim = degrees_.scatter;
    tile[dim] = part(extents_[dim], degrees_[dim], at[dim] / degrees_.r);
    if (!repeats()) tile.terms = part(reduction_, degrees_.r, at[dim] % degrees_.r);
    return tile;
  }
  constexpr Tile tile(std::int64_t shard) const { return tile(coordinates(shard)); }
  /// What it has of the output in the end.
  constexpr Box held(std::int64_t shard) const { return repeats() ? tile(shard) : box(shard); }

 private:
  Extents extents_;
  Degrees degrees_, owners_;
  std::int64_t reduction_;
};

}  // namespace strata
