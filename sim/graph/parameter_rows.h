#pragma once

// Where the parameters of a shard stand among its layer's. A shard holds the rows of its output
// channels, of each row the part of the terms that it adds up, then the bias of these channels;
// the shard of a sum's first terms has that. Where the terms lead (an embedding), the weight's rows
// are its terms, and of each a shard holds its channels. What channels share, every shard holds
// whole. Value; thread-safe.

#include <algorithm>
#include <cstdint>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"

namespace strata {

class ParameterRows {
 public:
  ParameterRows(const Layer& layer, const Tile& shard)
      : bias_row_(shard.terms.begin == 0 ? layer.parameters.bias / layer.output[Dim::c] : 0),
        channels_(shard[Dim::c]),
        bias_at_(layer.parameters.weight) {
    if (layer.parameters.shared_by_channels) {
      weight_row_ = layer.parameters.weight;
      rows_ = {0, 1};
      in_row_ = {0, weight_row_};
      return;
    }
    const Interval terms = intersect(shard.terms, {0, layer.reduction});
    const std::int64_t channels = layer.output[Dim::c];
    const std::int64_t each = layer.parameters.weight / channels / layer.reduction;
    if (traits(layer.op).terms_lead) {
      weight_row_ = channels * each;
      rows_ = terms;
      in_row_ = {channels_.begin * each, channels_.end * each};
    } else {
      weight_row_ = layer.reduction * each;
      rows_ = channels_;
      in_row_ = {terms.begin * each, terms.end * each};
    }
  }

  /// run(place in the whole, place in the shard's values, how many): runs that lie together in
  /// both.
  template <class Run>
  void each(const Run& run) const {
    const bool whole_rows = in_row_.size() == weight_row_;
    const std::int64_t runs = whole_rows ? 1 : rows_.size();
    const std::int64_t length = whole_rows ? rows_.size() * weight_row_ : in_row_.size();
    const std::int64_t first = rows_.begin * weight_row_ + in_row_.begin;
    for (std::int64_t i = 0; i < runs && length > 0; ++i) {
      run(first + i * weight_row_, i * length, length);
    }
    if (bias_row_ == 0) return;
    run(bias_at_ + channels_.begin * bias_row_, runs * length, channels_.size() * bias_row_);
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
  std::int64_t bias_row_;        ///< values of a channel in the bias: 1 or 0
  Interval channels_;            ///< of the shard
  std::int64_t bias_at_;         ///< where the whole layer's begins
  std::int64_t weight_row_ = 0;  ///< values of a row of the weight
  Interval rows_, in_row_;       ///< rows that the shard has values of, and which
};

}  // namespace strata
