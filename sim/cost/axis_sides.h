#pragma once

// What every device holds and needs along one axis of an edge, for every way in which the two ends
// may be cut along it: the intervals of which TransferTable multiplies the overlaps. Devices stand
// in lanes, so that a vector register works on eight groups of them at once.

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/aligned.h"
#include "sim/cost/edge_axes.h"

namespace strata {

/// Lanes hold number 0 of all groups, then number 1 of all groups ... each padded to a multiple of
/// eight. Of a single group all eight lanes are that group's: they serve eight columns at once.
class LaneLayout {
 public:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kNoDevice = std::numeric_limits<std::size_t>::max();

  /// `numbers`: of a group; each stands for `span` devices. `groups`: those that have lanes.
  LaneLayout(std::size_t numbers, std::size_t span, const std::vector<std::uint32_t>& groups);

  std::size_t padded() const { return padded_; }  ///< lanes of one number
  std::size_t lanes() const { return numbers_ * padded_; }
  /// The first device of the lane.
  std::size_t device_at(std::size_t lane) const;
  /// Whether a lane holds what the one before holds.
  bool repeats(std::size_t lane) const { return groups_.size() == 1 && lane % padded_ > 0; }
  /// The parts that the lane's devices hold, of those that the first two digits make. Of several
  /// devices they are a run of numbers: degrees, strides and the span are powers of two.
  Interval parts_held(const Digits& digits, std::size_t lane) const;

 private:
  std::size_t numbers_, span_, padded_;
  const std::vector<std::uint32_t>& groups_;
};

/// One side of an axis, by key (a cut's digits along it). Arrays are key x lanes.
struct AxisSide {
  std::vector<Digits> keys;
  std::vector<std::uint32_t> key_of;     ///< by choice
  std::vector<Digits> degrees;           ///< the keys without strides, each once
  std::vector<std::uint32_t> degree_of;  ///< by key: an index of degrees
  AlignedVector<double> begin, end;      ///< of a joint axis the consumer's run
  AlignedVector<double> size;            ///< of the consumer: what it needs, halos counted apiece
  std::vector<Interval> parts;           ///< that the lane's devices hold
};

struct AxisSides {
  AxisSides(const EdgeAxes& axes, const EdgeAxis& along, const Cuts& producer_cuts,
            const Cuts& consumer_cuts, const LaneLayout& layout);

  EdgeAxis axis;
  AxisSide producer, consumer;
  std::vector<std::vector<Interval>> needs;  ///< by degree of the consumer: of each part
  /// By degrees of both sides: what all consumer parts together read of the producer's parts
  /// before each.
  std::vector<std::vector<double>> read_before;
  std::vector<Box> boxes;     ///< of a joint axis: the producer's, key x lanes
  std::size_t first_key = 0;  ///< where TransferTable keeps its factors, in keys

 private:
  void place_producer(const LaneLayout& layout);
  void place_consumer(const EdgeAxes& axes, const LaneLayout& layout);
  void place_joint(const LaneLayout& layout);
  void sum_readings();
};

}  // namespace strata
