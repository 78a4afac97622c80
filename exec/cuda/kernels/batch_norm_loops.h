#pragma once

// The loops of batch norm, over columns of channels (columns.h).

#include <cmath>

#include "exec/cuda/kernels/columns.h"

namespace strata::cuda {

/// What stays the same all over a channel, an array of each, in the GPU's memory.
struct NormLanes {
  float* mean;
  float* inverse;      ///< 1 / standard deviation
  float* scale;        ///< gamma / standard deviation
  const float* shift;  ///< beta (forward)
  float* offset;       ///< sum of dy / M (backward)
  float* tilt;         ///< sum of dy (x - mean) / M / variance (backward)
};

template <int width>
STRATA_ANYWHERE Pack<float, width> lanes_of(const float* values, std::int64_t pack) {
  return reinterpret_cast<const Pack<float, width>*>(values)[pack];
}

/// Around the thread's first element, so that a mean far from zero costs no digits. Kept: how far
/// from it the mean of the thread's rows lies, and the squares about that mean.
template <class T, int width>
struct MomentTerms {
  const Pack<T, width>* x;

  struct Column {
    const Pack<T, width>* x;
    Pack<T, width> origin;

    STRATA_ANYWHERE void add(std::int64_t place, ColumnSums<2, width>& sums) const {
      const Pack<T, width> row = x[place];
      for (int lane = 0; lane < width; ++lane) {
        const float off =
            static_cast<float>(row.values[lane]) - static_cast<float>(origin.values[lane]);
        sums.of[0][lane] += off, sums.of[1][lane] += off * off;
      }
    }
    STRATA_ANYWHERE void finish(ColumnSums<2, width>& sums, std::int64_t rows) const {
      const auto count = static_cast<float>(rows);
      for (int lane = 0; lane < width; ++lane) {
        const float off = sums.of[0][lane] / count;
        const float squares = sums.of[1][lane] - sums.of[0][lane] * off;
        sums.of[0][lane] = off, sums.of[1][lane] = squares < 0 ? 0 : squares;
      }
    }
  };
  STRATA_ANYWHERE Column column(std::int64_t, std::int64_t first) const { return {x, x[first]}; }
};

/// Chan, Golub and LeVeque (1979), as JoinMoments of move.cu. Split s measured from row s.
template <class T>
struct JoinRowMoments {
  Partials partials;
  const T* x;
  float* statistics;

  template <class AnyTeam>
  STRATA_ANYWHERE void operator()(const AnyTeam& team, std::int64_t channel) const {
    const Columns& columns = partials.columns;
    if (columns.rows == 0) return put(channel, 0, 0);
    double sum = 0, squares = 0;
    for (std::int64_t split = team.rank(); split < columns.splits; split += team.size()) {
      sum += static_cast<double>(columns.rows_of(split)) * mean_of(split, channel);
    }
    const double mean = team.sum(sum) / static_cast<double>(columns.rows);
    for (std::int64_t split = team.rank(); split < columns.splits; split += team.size()) {
      const double away = mean_of(split, channel) - mean;
      squares += static_cast<double>(partials.at<2>(split, 1, channel)) +
                 static_cast<double>(columns.rows_of(split)) * away * away;
    }
    squares = team.sum(squares);
    if (team.rank() == 0) put(channel, mean, squares);
  }

 private:
  STRATA_ANYWHERE void put(std::int64_t channel, double mean, double squares) const {
    statistics[2 * channel] = static_cast<float>(mean);
    statistics[2 * channel + 1] = static_cast<float>(squares);
  }
  STRATA_ANYWHERE double mean_of(std::int64_t split, std::int64_t channel) const {
    const auto origin = static_cast<float>(x[split * partials.channels + channel]);
    return static_cast<double>(origin) + static_cast<double>(partials.at<2>(split, 0, channel));
  }
};

/// dy and dy (x - mean).
template <class T, int width>
struct ProductTerms {
  const Pack<T, width>* x;
  const Pack<T, width>* dy;
  const float* means;

  struct Column {
    const Pack<T, width>* x;
    const Pack<T, width>* dy;
    Pack<float, width> mean;

    STRATA_ANYWHERE void add(std::int64_t place, ColumnSums<2, width>& sums) const {
      const Pack<T, width> value = x[place], gradient = dy[place];
      for (int lane = 0; lane < width; ++lane) {
        const auto d = static_cast<float>(gradient.values[lane]);
        sums.of[0][lane] += d;
        sums.of[1][lane] += d * (static_cast<float>(value.values[lane]) - mean.values[lane]);
      }
    }
    STRATA_ANYWHERE void finish(ColumnSums<2, width>&, std::int64_t) const {}
  };
  STRATA_ANYWHERE Column column(std::int64_t pack, std::int64_t) const {
    return {x, dy, lanes_of<width>(means, pack)};
  }
};

struct PutProducts {
  const float* inverse;
  float* statistics;
  float* gradients;  // of gamma, then of beta
  std::int64_t channels;
  bool adds;  // to these

  STRATA_ANYWHERE void operator()(std::int64_t channel, const float (&sums)[2]) const {
    const float of_gamma = sums[1] * inverse[channel];
    statistics[2 * channel] = sums[0], statistics[2 * channel + 1] = of_gamma;
    float& gamma = gradients[channel];
    float& beta = gradients[channels + channel];
    gamma = adds ? gamma + of_gamma : of_gamma, beta = adds ? beta + sums[0] : sums[0];
  }
};

/// For each channel, from the statistics of the whole batch.
struct PrepareNorm {
  NormLanes lanes;
  const float* statistics;
  const float* parameters;
  double count, epsilon;

  STRATA_ANYWHERE void operator()(std::int64_t c) const {
    const double variance = statistics[2 * c + 1] / count;
    lanes.mean[c] = statistics[2 * c];
    lanes.inverse[c] = static_cast<float>(1 / std::sqrt(variance + epsilon));
    lanes.scale[c] = parameters[c] * lanes.inverse[c];
  }
};

struct PrepareNormGradient {
  NormLanes lanes;
  const float* statistics;
  double count;

  STRATA_ANYWHERE void operator()(std::int64_t c) const {
    lanes.offset[c] = static_cast<float>(statistics[2 * c] / count);
    lanes.tilt[c] = static_cast<float>(statistics[2 * c + 1] / count * lanes.inverse[c]);
  }
};

/// y = (x - mean) scale + shift
template <class T, int width>
struct Normalize {
  NormLanes lanes;
  Columns columns;
  const Pack<T, width>* x;
  Pack<T, width>* y;

  STRATA_ANYWHERE void operator()(std::int64_t thread) const {
    const std::int64_t pack = columns.pack_of(thread);
    const auto mean = lanes_of<width>(lanes.mean, pack), scale = lanes_of<width>(lanes.scale, pack),
               shift = lanes_of<width>(lanes.shift, pack);
    for (std::int64_t place = thread; place < columns.end(); place += columns.threads()) {
      Pack<T, width> values = x[place];
      for (int k = 0; k < width; ++k) {
        const float off = static_cast<float>(values.values[k]) - mean.values[k];
        values.values[k] = T(off * scale.values[k] + shift.values[k]);
      }
      y[place] = values;
    }
  }
};

/// dx = (dy - offset - (x - mean) tilt) scale
template <class T, int width>
struct NormalizeGradient {
  NormLanes lanes;
  Columns columns;
  const Pack<T, width>* x;
  const Pack<T, width>* dy;
  Pack<T, width>* dx;

  STRATA_ANYWHERE void operator()(std::int64_t thread) const {
    const std::int64_t pack = columns.pack_of(thread);
    const auto mean = lanes_of<width>(lanes.mean, pack), scale = lanes_of<width>(lanes.scale, pack),
               offset = lanes_of<width>(lanes.offset, pack),
               tilt = lanes_of<width>(lanes.tilt, pack);
    for (std::int64_t place = thread; place < columns.end(); place += columns.threads()) {
      Pack<T, width> values = dy[place];
      const Pack<T, width> of_x = x[place];
      for (int k = 0; k < width; ++k) {
        const float off = static_cast<float>(of_x.values[k]) - mean.values[k];
        const float away = static_cast<float>(values.values[k]) - offset.values[k];
        values.values[k] = T((away - off * tilt.values[k]) * scale.values[k]);
      }
      dx[place] = values;
    }
  }
};

}  // namespace strata::cuda
