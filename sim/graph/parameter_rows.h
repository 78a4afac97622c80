#pragma once

// Where the parameters of a shard stand among its layer's. A shard holds the rows of its output
// channels, of each row the part of the terms that it adds up, then the bias of these channels;
// the shard of a sum's first terms has that. Where the terms lead (an embedding), the weight's rows
// are its terms, and of each a shard holds its channels. What channels share, every shard holds
// whole; of what a head of channels has in one row, a shard holds that of its heads. Parameters
// that carry d have all of this once for each element of d (an expert), and a
// shard holds that of its elements, all weights before all biases. Value; thread-safe.

#include <algorithm>
#include <cstdint>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"

namespace strata {

class ParameterRows {
 public:
  ParameterRows(const Layer& layer, const Tile& shard) {
    const Parameters& all = layer.parameters;
    const std::int64_t slices = all.loops[Dim::d] ? layer.output[Dim::d] : 1;
    const std::int64_t row = all.channels_a_row;
    const std::int64_t channels = all.loops[Dim::c] ? layer.output[Dim::c] / row : 1;
    const std::int64_t each = all.weight / slices / channels / layer.reduction;
    const Interval terms = intersect(shard.terms, {0, layer.reduction});
    slices_ = all.loops[Dim::d] ? shard[Dim::d] : Interval{0, 1};
    const Interval own{shard[Dim::c].begin / row, shard[Dim::c].end / row};
    channels_ = all.loops[Dim::c] ? own : Interval{0, 1};
    slice_ = all.weight / slices;
    bias_row_ = shard.terms.begin == 0 ? all.bias / slices / channels : 0;
    bias_slice_ = all.bias / slices;
    bias_at_ = all.weight;
    const Interval of_channels{channels_.begin * each, channels_.end * each};
    const Interval of_terms{terms.begin * each, terms.end * each};
    const bool terms_lead = traits(layer.op).terms_lead;
    weight_row_ = each * (terms_lead ? channels : layer.reduction);
    rows_ = terms_lead ? terms : channels_;
    in_row_ = terms_lead ? of_channels : of_terms;
  }

  /// run(place in the whole, place in the shard's values, how many): runs that lie together in
  /// both.
  template <class Run>
  void each(const Run& run) const {
    const bool whole_rows = in_row_.size() == weight_row_;
    const std::int64_t runs = whole_rows ? 1 : rows_.size();
    const std::int64_t length = whole_rows ? rows_.size() * weight_row_ : in_row_.size();
    std::int64_t held = 0;
    for (std::int64_t slice = slices_.begin; slice < slices_.end && length > 0; ++slice) {
      const std::int64_t first = slice * slice_ + rows_.begin * weight_row_ + in_row_.begin;
      for (std::int64_t i = 0; i < runs; ++i, held += length) {
        run(first + i * weight_row_, held, length);
      }
    }
    if (bias_row_ == 0) return;
    const std::int64_t biases = channels_.size() * bias_row_;
    for (std::int64_t slice = slices_.begin; slice < slices_.end; ++slice, held += biases) {
      run(bias_at_ + slice * bias_slice_ + channels_.begin * bias_row_, held, biases);
    }
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
  Interval slices_;         ///< elements of d of the shard; one where d is not carried
  Interval channels_;       ///< rows of the shard's channels; one where all share the parameters
  std::int64_t slice_ = 0;  ///< values of the weight for one element of d
  std::int64_t weight_row_ = 0;  ///< values of a row of the weight
  Interval rows_, in_row_;       ///< rows that the shard has values of, and which
  std::int64_t bias_row_ = 0;    ///< values of a channel in the bias: 1 or 0
  std::int64_t bias_slice_ = 0;  ///< values of the bias for one element of d
  std::int64_t bias_at_ = 0;     ///< where the whole layer's begins
};

}  // namespace strata
