#pragma once

// The volume of an edge is a product over axes. What a consumer shard needs of what a producer
// shard owns is a box, cut along each dim by that dim's coordinates alone; so the overlap of two
// shards is a product of overlaps of intervals, one for each dim, and tables of t_X need only the
// intervals. Flatten alone mixes dims: its input's c, d, h, w make one axis, along which a consumer
// owns a run of the row-major order.
//
// Everything is told by device: device k of a cut holds the shard whose coordinate in a loop is
// k / stride mod degree, and none from the product of the degrees on. A producer counts as its
// output lies, a consumer as it works: along a dim whose elements are the terms of its sums, it is
// cut in its own channels, whose parts all need the same, and in its reduction.

#include <array>
#include <cstdint>
#include <vector>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// How a loop of a cut runs over the devices.
struct Digit {
  std::int32_t degree = 1;
  std::int32_t stride = 1;
  bool top = false;  ///< the slowest of its cut: devices from degree * stride on hold nothing
  bool reduction = false;
  auto operator<=>(const Digit&) const = default;

  /// The coordinate of a device; `degree` or more for one that holds nothing.
  std::int64_t at(std::int64_t device) const {
    return top ? device / stride : device / stride % degree;
  }
};

/// One axis of an edge's volume, told for a cut's digits along it.
struct EdgeAxis {
  bool joint = false;       ///< Flatten's c, d, h, w
  Dim dim = Dim::n;         ///< else: this dim of both sides
  std::int64_t extent = 1;  ///< of the producer, along the axis
  Extents producer;         ///< the producer's output
};

/// The digits of a cut along an axis: the first; with a second one where a reduction is cut, too,
/// which runs faster; or all four for the producer's side of a joint axis.
using Digits = std::array<Digit, 4>;

/// How many parts the first two make, numbered with the second running faster.
constexpr std::int32_t part_count(const Digits& digits) {
  return digits[0].degree * digits[1].degree;
}

class EdgeAxes {
 public:
  /// The edge into input number `input` of `consumer`, for these choices of both ends.
  EdgeAxes(const Graph& graph, LayerId consumer, std::size_t input, const Cuts& producer_cuts,
           const Cuts& consumer_cuts);

  /// Those along which anything is cut, the samples' always and last.
  const std::vector<EdgeAxis>& axes() const { return axes_; }
  /// The elements along all dims that are cut nowhere.
  double scale() const { return scale_; }

  Digits producer_digits(const EdgeAxis& axis, const Cut& cut) const;
  Digits consumer_digits(const EdgeAxis& axis, const Cut& cut) const;

  /// What part `part` of the consumer under these digits needs along a plain axis, as an interval
  /// of the producer's dim.
  Interval needed(const EdgeAxis& axis, const Digits& digits, std::int64_t part) const;

 private:
  AccessMap access_;
  Extents output_;          // of the consumer
  std::int64_t reduction_;  // of the consumer
  std::vector<EdgeAxis> axes_;
  double scale_ = 1;
};

/// Elements of `box` (its c, d, h, w) whose position in the row-major order of a tensor's c, d, h,
/// w is below `end`.
std::int64_t elements_below(const Extents& tensor, const Box& box, std::int64_t end);

}  // namespace strata
