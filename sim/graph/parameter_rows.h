#pragma once

// Where the parameters of a shard stand among its layer's. A shard holds the rows of its output
// channels, of each row the part of the terms that it adds up, then the bias of these channels;
// the shard of a sum's first terms has that. Value; thread-safe.

#include <algorithm>
#include <cstdint>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"

namespace strata {

class ParameterRows {
 public:
  ParameterRows(const Layer& layer, const Tile& shard)
      : weight_row_(layer.parameters.weight / layer.output[Dim::c]),
        bias_row_(shard.terms.begin == 0 ? layer.parameters.bias / layer.output[Dim::c] : 0),
        channels_(layer.output[Dim::c]),
        held_(shard[Dim::c]) {
    const std::int64_t term = weight_row_ / layer.reduction;
    const Interval terms = intersect(shard.terms, {0, layer.reduction});
    in_row_ = {terms.begin * term, terms.end * term};
  }

  /// run(place in the whole, place in the shard's values, how many): runs that lie together in
  /// both.
  template <class Run>
  void each(const Run& run) const {
    const bool whole_rows = in_row_.size() == weight_row_;
    const std::int64_t runs = whole_rows ? 1 : held_.size();
    const std::int64_t length = whole_rows ? held_.size() * weight_row_ : in_row_.size();
    const std::int64_t first = held_.begin * weight_row_ + in_row_.begin;
    for (std::int64_t i = 0; i < runs && length > 0; ++i) {
      run(first + i * weight_row_, i * length, length);
    }
    if (bias_row_ == 0) return;
    run(channels_ * weight_row_ + held_.begin * bias_row_, runs * length, held_.size() * bias_row_);
  }
  void read(float* shard, const float* whole) const {
    each([&](std::int64_t at, std::int64_t in_shard, std::int64_t count) {
      std::copy_n(whole + at, count, shard + in_shard);
    });
  }
  void write(float* whole, const float* shard) const {
    each([&](std::int64_t at, std::int64_t in_shard, std::int64_t count) {
      std::copy_n(shard + in_shard, count, whole + at);
    });
  }

 private:
  std::int64_t weight_row_;  ///< values of a channel in the weight
  std::int64_t bias_row_;    ///< and in the bias: 1 or 0
  std::int64_t channels_;    ///< of the whole layer
  Interval held_;            ///< channels of the shard
  Interval in_row_;          ///< values of a channel's row
};

}  // namespace strata
