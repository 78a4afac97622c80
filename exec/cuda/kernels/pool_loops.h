#pragma once

// The loops of pooling, a thread for each output (forward) or input (backward) and each pack of
// channels. Forward, the windows of a tensor with few outputs are cut in slices, so that many
// threads work on each. Backward, an input gathers from the outputs whose windows hold it.
//
// A maximum's place is the number of its tap in its window, row-major; a byte holds most.

#include <cmath>
#include <cstdint>

#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

/// Of an output: it taps begin, begin + step, ... `count` of them.
struct Taps {
  std::int32_t begin = 0, count = 0;
  float share = 0;  ///< 1 / this dim's part of an average's divisor
};
/// Of an input: the outputs that may tap it, one after the other.
struct Readers {
  std::int32_t begin = 0, end = 0;
};

/// A dim's tables, in the GPU's memory.
struct PoolAxis {
  const Taps* taps = nullptr;        ///< by output
  const Readers* readers = nullptr;  ///< by input
  std::int32_t step = 1;
};
struct PoolAxes {
  PoolAxis d, h, w;
};

template <int width_>
struct alignas(sizeof(float) * width_) Largest {
  static constexpr int width = width_;
  float most[width];
  std::int32_t where[width];

  STRATA_ANYWHERE Largest() {
    for (int lane = 0; lane < width; ++lane) most[lane] = -INFINITY, where[lane] = -1;
  }
  template <class T>
  STRATA_ANYWHERE void take(const Pack<T, width>& values, std::int32_t tap) {
    for (int lane = 0; lane < width; ++lane) {
      take(lane, static_cast<float>(values.values[lane]), tap);
    }
  }
  /// What comes later.
  STRATA_ANYWHERE void join(const Largest& next) {
    for (int lane = 0; lane < width; ++lane) take(lane, next.most[lane], next.where[lane]);
  }

 private:
  // The first of equals; a NaN stays.
  STRATA_ANYWHERE void take(int lane, float value, std::int32_t tap) {
    if (value > most[lane] || value != value) most[lane] = value, where[lane] = tap;
  }
};

template <int width_>
struct alignas(sizeof(float) * width_) Total {
  static constexpr int width = width_;
  float sum[width] = {};

  template <class T>
  STRATA_ANYWHERE void take(const Pack<T, width>& values, std::int32_t) {
    for (int lane = 0; lane < width; ++lane) sum[lane] += static_cast<float>(values.values[lane]);
  }
  STRATA_ANYWHERE void join(const Total& next) {
    for (int lane = 0; lane < width; ++lane) sum[lane] += next.sum[lane];
  }
};

template <class T, class Mark, int width>
struct PutLargest {
  Pack<T, width>* output;
  Pack<Mark, width>* marks;  // null where nothing goes back

  STRATA_ANYWHERE void operator()(std::int64_t i, const Largest<width>& found, float) const {
    Pack<T, width> values;
    Pack<Mark, width> taps;
    for (int lane = 0; lane < width; ++lane) {
      values.values[lane] = T(found.most[lane]);
      taps.values[lane] = static_cast<Mark>(found.where[lane]);
    }
    output[i] = values;
    if (marks != nullptr) marks[i] = taps;
  }
};

template <class T, int width>
struct PutAverage {
  Pack<T, width>* output;

  STRATA_ANYWHERE void operator()(std::int64_t i, const Total<width>& found, float share) const {
    Pack<T, width> values;
    for (int lane = 0; lane < width; ++lane) values.values[lane] = T(found.sum[lane] * share);
    output[i] = values;
  }
};

/// Sizes are counted in packs.
template <class T, class Fold, class Put>
struct PoolForward {
  PoolAxes axes;
  Tensor<Pack<T, Fold::width>> input;
  Places outputs;
  Put put;
  std::int32_t slices;
  Fold* partial;  // slice, output

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t count = outputs.count(), slice = slices == 1 ? 0 : i / count;
    const Places at = outputs.at(i - slice * count);
    const Taps d = axes.d.taps[at.d], h = axes.h.taps[at.h], w = axes.w.taps[at.w];
    const std::int32_t volume = d.count * h.count * w.count;
    const std::int32_t each = (volume + slices - 1) / slices;
    const std::int64_t first = slice * each, last = first + each;
    Fold fold;
    fold_taps(fold, at, d, h, w, static_cast<std::int32_t>(first),
              static_cast<std::int32_t>(last < volume ? last : volume));
    if (slices > 1) {
      partial[i] = fold;
    } else {
      put(i, fold, d.share * h.share * w.share);
    }
  }

 private:
  STRATA_ANYWHERE void fold_taps(Fold& fold, const Places& at, const Taps& d, const Taps& h,
                                 const Taps& w, std::int32_t tap, std::int32_t last) const {
    std::int32_t i = 0, j = 0, k = 0;
    if (tap > 0 && tap < last) k = tap % w.count, j = tap / w.count % h.count;
    if (tap > 0 && tap < last) i = tap / w.count / h.count;
    while (tap < last) {
      const Places first = {at.n, d.begin + i * axes.d.step, h.begin + j * axes.h.step,
                            w.begin + k * axes.w.step, at.c};
      const std::int32_t run = w.count - k < last - tap ? w.count - k : last - tap;
      fold_row(fold, &input.at(first), tap, run);
      tap += run, k = 0;
      if (++j == h.count) j = 0, ++i;
    }
  }

  // Loads that do not wait for one another; most windows have rows of two or three.
  STRATA_ANYWHERE void fold_row(Fold& fold, const Pack<T, Fold::width>* row, std::int32_t tap,
                                std::int32_t run) const {
    const std::int64_t step = axes.w.step * input.size.c;
    for (; run >= 3; run -= 3, tap += 3, row += 3 * step) fold_some<3>(fold, row, step, tap);
    if (run == 2) fold_some<2>(fold, row, step, tap);
    if (run == 1) fold_some<1>(fold, row, step, tap);
  }
  template <int count>
  STRATA_ANYWHERE static void fold_some(Fold& fold, const Pack<T, Fold::width>* row,
                                        std::int64_t step, std::int32_t tap) {
    Pack<T, Fold::width> values[count];
    for (int k = 0; k < count; ++k) values[k] = row[k * step];
    for (int k = 0; k < count; ++k) fold.take(values[k], tap + k);
  }
};

/// The slices of each output, in their order.
template <class Fold, class Put>
struct PoolJoin {
  PoolAxes axes;
  Places outputs;
  Put put;
  std::int32_t slices;
  const Fold* partial;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t count = outputs.count();
    Fold fold = partial[i];
    for (std::int64_t slice = 1; slice < slices; ++slice) fold.join(partial[slice * count + i]);
    const Places at = outputs.at(i);
    put(i, fold, axes.d.taps[at.d].share * axes.h.taps[at.h].share * axes.w.taps[at.w].share);
  }
};

template <class T, class Mark, int width>
struct FromLargest {
  const Pack<T, width>* output_gradient;
  const Pack<Mark, width>* marks;

  STRATA_ANYWHERE void add(float (&sum)[width], std::int64_t output, std::int32_t tap,
                           float) const {
    const Pack<T, width> dy = output_gradient[output];
    const Pack<Mark, width> found = marks[output];
    for (int lane = 0; lane < width; ++lane) {
      const bool hit = found.values[lane] == static_cast<Mark>(tap);
      sum[lane] += hit ? static_cast<float>(dy.values[lane]) : 0.0F;
    }
  }
};

template <class T, int width>
struct FromAverage {
  const Pack<T, width>* output_gradient;

  STRATA_ANYWHERE void add(float (&sum)[width], std::int64_t output, std::int32_t,
                           float share) const {
    const Pack<T, width> dy = output_gradient[output];
    for (int lane = 0; lane < width; ++lane) {
      sum[lane] += static_cast<float>(dy.values[lane]) * share;
    }
  }
};

template <class T, int width, class From>
struct PoolBackward {
  PoolAxes axes;
  Tensor<Pack<T, width>> input_gradient;
  Places outputs;
  From from;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Places at = input_gradient.size.at(i);
    const Readers depth = axes.d.readers[at.d], height = axes.h.readers[at.h];
    float sum[width] = {};
    for (std::int32_t od = depth.begin; od < depth.end; ++od) {
      for (std::int32_t oh = height.begin; oh < height.end; ++oh) {
        gather_row(sum, at, od, oh);
      }
    }
    Pack<T, width> values;
    for (int lane = 0; lane < width; ++lane) values.values[lane] = T(sum[lane]);
    input_gradient.data[i] = values;
  }

 private:
  STRATA_ANYWHERE void gather_row(float (&sum)[width], const Places& at, std::int32_t od,
                                  std::int32_t oh) const {
    const Taps d = axes.d.taps[od], h = axes.h.taps[oh];
    const std::int32_t i = number(axes.d, d, at.d), j = number(axes.h, h, at.h);
    if (i < 0 || j < 0) return;
    const Readers width_readers = axes.w.readers[at.w];
    for (std::int32_t ow = width_readers.begin; ow < width_readers.end; ++ow) {
      const Taps w = axes.w.taps[ow];
      const std::int32_t k = number(axes.w, w, at.w);
      if (k < 0) continue;
      from.add(sum, outputs.place({at.n, od, oh, ow, at.c}), (i * h.count + j) * w.count + k,
               d.share * h.share * w.share);
    }
  }

  /// Which tap of an output an input is; negative where a dilated window steps over it.
  STRATA_ANYWHERE static std::int32_t number(const PoolAxis& axis, const Taps& taps,
                                             std::int64_t input) {
    const std::int32_t off = static_cast<std::int32_t>(input) - taps.begin;
    if (axis.step > 1 && off % axis.step != 0) return -1;
    const std::int32_t tap = axis.step > 1 ? off / axis.step : off;
    return tap < taps.count ? tap : -1;
  }
};

}  // namespace strata::cuda
