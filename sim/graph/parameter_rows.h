#pragma once

// Where the channels of a shard stand in a layer's parameters: rows of the weight, then of the
// bias, in the shard's values as in the whole layer's. Value; thread-safe.

#include <algorithm>
#include <cstdint>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"

namespace strata {

class ParameterRows {
 public:
  /// `box`: of the shard's output.
  ParameterRows(const Layer& layer, const Box& box)
      : weight_row_(layer.parameters.weight / layer.output[Dim::c]),
        bias_row_(layer.parameters.bias / layer.output[Dim::c]),
        channels_(layer.output[Dim::c]),
        held_(box[Dim::c]) {}

  /// Where they stand in the whole; in the shard's own values one follows the other.
  Interval weight() const { return {held_.begin * weight_row_, held_.end * weight_row_}; }
  Interval bias() const {
    const std::int64_t first = channels_ * weight_row_;
    return {first + held_.begin * bias_row_, first + held_.end * bias_row_};
  }
  void read(float* shard, const float* whole) const {
    std::copy_n(whole + weight().begin, weight().size(), shard);
    std::copy_n(whole + bias().begin, bias().size(), shard + weight().size());
  }
  void write(float* whole, const float* shard) const {
    std::copy_n(shard, weight().size(), whole + weight().begin);
    std::copy_n(shard + weight().size(), bias().size(), whole + bias().begin);
  }

 private:
  std::int64_t weight_row_;  ///< values of a channel in the weight
  std::int64_t bias_row_;    ///< and in the bias: 1 or 0
  std::int64_t channels_;    ///< of the whole layer
  Interval held_;            ///< channels of the shard
};

}  // namespace strata
