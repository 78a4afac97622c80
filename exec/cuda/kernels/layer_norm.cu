// Layer normalisation (Ba, Kiros and Hinton, 2016) of each position (n, d, h, w) over its channels:
// a shard that has some of them gives their moments, and gets those of all C.
//   forward   y = gamma x^ + beta,   x^ = (x - mean) / sqrt(variance + epsilon)
//   backward  dx = (g - sum(g) / C - x^ sum(g x^) / C) / sqrt(variance + epsilon),   g = gamma dy
// with the biased variance M2 / C. The gradients of gamma and beta are the sums of dy x^ and dy
// over the positions. A team takes a position, whose channels lie side by side.

#include <cassert>
#include <cmath>

#include "exec/cuda/kernels/columns.h"
#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

/// A shard's x, and what the forward pass keeps of each position.
template <class T>
struct NormRows {
  const T* x;
  std::int64_t rows, columns;
  float* mean;     ///< or null, where no backward pass will ask
  float* inverse;  ///< 1 / sqrt(variance + epsilon)

  STRATA_ANYWHERE float value(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(x[row * columns + column]);
  }
  STRATA_ANYWHERE float hat(std::int64_t row, std::int64_t column) const {
    return (value(row, column) - mean[row]) * inverse[row];
  }
};

/// Around the mean: sums of squares around zero would lose what varies.
template <class T>
struct RowMoments {
  NormRows<T> x;
  float* statistics;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const auto count = static_cast<double>(x.columns);
    float sum = 0;
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) sum += x.value(row, c);
    const auto near = static_cast<float>(team.sum(static_cast<double>(sum)) / count);
    float rest = 0, squares = 0;
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float off = x.value(row, c) - near;
      rest += off, squares += off * off;
    }
    const double all = team.sum(static_cast<double>(rest)), away = all / count;
    const double distances = team.sum(static_cast<double>(squares)) - all * away;
    if (team.rank() != 0) return;
    statistics[2 * row] = static_cast<float>(static_cast<double>(near) + away);
    statistics[2 * row + 1] = static_cast<float>(distances);
  }
};

template <class T>
struct NormalizeRow {
  NormRows<T> x;
  const float* statistics;
  const float* gamma;  ///< and beta; or null
  const float* beta;
  double count, epsilon;
  T* y;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const float mean = statistics[2 * row];
    const double variance = static_cast<double>(statistics[2 * row + 1]) / count;
    const auto inverse = static_cast<float>(1 / std::sqrt(variance + epsilon));
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float hat = (x.value(row, c) - mean) * inverse;
      y[row * x.columns + c] = T(gamma != nullptr ? hat * gamma[c] + beta[c] : hat);
    }
    if (team.rank() == 0 && x.mean != nullptr) x.mean[row] = mean, x.inverse[row] = inverse;
  }
};

/// dy, weighed by gamma.
template <class T>
struct WeighedRows {
  const T* dy;
  const float* gamma;  ///< or null
  std::int64_t columns;

  STRATA_ANYWHERE float at(std::int64_t row, std::int64_t column) const {
    const auto gradient = static_cast<float>(dy[row * columns + column]);
    return gamma != nullptr ? gradient * gamma[column] : gradient;
  }
};

template <class T>
struct RowProducts {
  NormRows<T> x;
  WeighedRows<T> g;
  float* statistics;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    float sum = 0, product = 0;
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float weighed = g.at(row, c);
      sum += weighed, product += weighed * x.hat(row, c);
    }
    sum = team.sum(sum), product = team.sum(product);
    if (team.rank() == 0) statistics[2 * row] = sum, statistics[2 * row + 1] = product;
  }
};

template <class T>
struct NormalizeRowGradient {
  NormRows<T> x;
  WeighedRows<T> g;
  const float* statistics;
  float share;  ///< 1 / C
  T* dx;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const float offset = statistics[2 * row] * share, tilt = statistics[2 * row + 1] * share;
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float away = g.at(row, c) - offset - x.hat(row, c) * tilt;
      dx[row * x.columns + c] = T(away * x.inverse[row]);
    }
  }
};

/// dy x^ and dy, by columns.
template <class T, int width>
struct ScaleTerms {
  const Pack<T, width>* x;
  const Pack<T, width>* dy;
  const float* mean;
  const float* inverse;
  std::int64_t packs;

  struct Column {
    ScaleTerms of;

    STRATA_ANYWHERE void add(std::int64_t place, ColumnSums<2, width>& sums) const {
      const std::int64_t row = Quotient(place, of.packs).whole;
      const Pack<T, width> values = of.x[place], gradients = of.dy[place];
      for (int lane = 0; lane < width; ++lane) {
        const auto gradient = static_cast<float>(gradients.values[lane]);
        const float off = static_cast<float>(values.values[lane]) - of.mean[row];
        sums.of[0][lane] += gradient * (off * of.inverse[row]);
        sums.of[1][lane] += gradient;
      }
    }
    STRATA_ANYWHERE void finish(ColumnSums<2, width>&, std::int64_t) const {}
  };
  STRATA_ANYWHERE Column column(std::int64_t, std::int64_t) const { return {*this}; }
};

struct PutGradients {
  float* gradients;  ///< of gamma, then of beta
  std::int64_t channels;
  bool adds;

  STRATA_ANYWHERE void operator()(std::int64_t channel, const float (&sums)[2]) const {
    float& gamma = gradients[channel];
    float& beta = gradients[channels + channel];
    gamma = adds ? gamma + sums[0] : sums[0], beta = adds ? beta + sums[1] : sums[1];
  }
};

template <class T>
class LayerNormKernel : public PhasedKernel {
 public:
  LayerNormKernel(Seat& seat, const ShardSpec& spec, const LayerNorm& op)
      : seat_(seat),
        epsilon_(op.epsilon),
        affine_(op.affine),
        channels_(spec.output[Dim::c].size()),
        count_(static_cast<double>((*spec).output[Dim::c])) {}

 private:
  NormRows<T> rows(const Operands& operands) const {
    const Tensor<const T> x(operands.inputs[0]);
    const std::int64_t count = x.size.positions();
    auto* const kept = static_cast<float*>(operands.saved);
    return {x.data, count, channels_, kept, kept == nullptr ? nullptr : kept + count};
  }
  WeighedRows<T> weighed(const Operands& operands) const {
    return {static_cast<const T*>(operands.output_gradient.data),
            affine_ ? operands.parameters : nullptr, channels_};
  }

  void forward_statistics(const Operands& operands) override {
    const NormRows<T> x = rows(operands);
    teams(seat_.stream(), x.rows, RowMoments<T>{x, operands.statistics});
  }

  void forward(const Operands& operands) override {
    const NormRows<T> x = rows(operands);
    const float* const gamma = affine_ ? operands.parameters : nullptr;
    const float* const beta = affine_ ? operands.parameters + channels_ : nullptr;
    teams(seat_.stream(), x.rows,
          NormalizeRow<T>{x, operands.statistics, gamma, beta, count_, epsilon_,
                          static_cast<T*>(operands.output.data)});
  }

  void backward_statistics(const Operands& operands) override {
    const NormRows<T> x = rows(operands);
    teams(seat_.stream(), x.rows, RowProducts<T>{x, weighed(operands), operands.statistics});
  }

  void backward_data(const Operands& operands) override {
    const NormRows<T> x = rows(operands);
    teams(seat_.stream(), x.rows,
          NormalizeRowGradient<T>{x, weighed(operands), operands.statistics,
                                  static_cast<float>(1 / count_),
                                  static_cast<T*>(operands.input_gradients[0].data)});
  }

  void backward_weights(const Operands& operands) override {
    const Tensor<T> x(operands.inputs[0]), dy(operands.output_gradient);
    const NormRows<T> of = rows(operands);
    const PutGradients put{operands.parameter_gradients, channels_,
                           operands.adds_parameter_gradients};
    const auto join = [&](const Partials& partials) {
      return JoinSums<2, PutGradients>{partials, put};
    };
    with_width<T>({channels_}, [&](auto width) {
      const ScaleTerms<T, width> terms{packed<width>(x).data, packed<width>(dy).data, of.mean,
                                       of.inverse, channels_ / width};
      sum_columns<2, width>(x, terms, join, seat_);
    });
  }

  void update(const Operands& operands) override {
    update_parameters(operands, 2 * channels_, seat_);
  }

  Seat& seat_;
  double epsilon_;
  bool affine_;
  std::int64_t channels_;
  double count_;  ///< channels of the whole layer
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const LayerNorm& op) {
  return make_of_type<LayerNormKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
