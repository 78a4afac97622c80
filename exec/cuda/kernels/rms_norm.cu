// Root mean square normalisation (Zhang and Sennrich, 2019) of each position over its channels: a
// shard that has some of them gives their sum of squares, and gets that of all C.
//   forward   y = gamma x^,   x^ = x / sqrt(sum(x^2) / C + epsilon)
//   backward  dx = (g - x^ sum(g x^) / C) / sqrt(sum(x^2) / C + epsilon),   g = gamma dy
// The gradient of gamma is the sum of dy x^ over the positions. A team takes a position, whose
// channels lie side by side. Heads that are normalised each by itself lie there as positions do:
// what follows calls a row what has a root of its own.

#include <cmath>

#include "exec/cuda/kernels/columns.h"
#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

/// A shard's x.
template <class T>
struct SquareRows {
  const T* x;
  std::int64_t rows, columns;

  STRATA_ANYWHERE float value(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(x[row * columns + column]);
  }
};

template <class T>
struct RowSquares {
  SquareRows<T> x;
  float* statistics;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    float squares = 0;
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float value = x.value(row, c);
      squares += value * value;
    }
    squares = team.sum(squares);
    if (team.rank() == 0) statistics[row] = squares;
  }
};

template <class T>
struct DivideRow {
  SquareRows<T> x;
  const float* statistics;
  const float* gamma;
  double count, epsilon;
  T* y;
  float* kept;  ///< each row's 1 / root, or null

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const double mean = static_cast<double>(statistics[row]) / count;
    const auto inverse = static_cast<float>(1 / std::sqrt(mean + epsilon));
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      y[row * x.columns + c] = T(x.value(row, c) * inverse * gamma[c]);
    }
    if (team.rank() == 0 && kept != nullptr) kept[row] = inverse;
  }
};

/// Of the backward phases.
template <class T>
struct DividedRows {
  SquareRows<T> x;
  const T* dy;
  const float* gamma;
  const float* inverse;

  STRATA_ANYWHERE float hat(std::int64_t row, std::int64_t column) const {
    return x.value(row, column) * inverse[row];
  }
  STRATA_ANYWHERE float weighed(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(dy[row * x.columns + column]) * gamma[column];
  }
};

template <class T>
struct RowHatProducts {
  DividedRows<T> of;
  float* statistics;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    float product = 0;
    for (std::int64_t c = team.rank(); c < of.x.columns; c += team.size()) {
      product += of.weighed(row, c) * of.hat(row, c);
    }
    product = team.sum(product);
    if (team.rank() == 0) statistics[row] = product;
  }
};

template <class T>
struct DivideRowGradient {
  DividedRows<T> of;
  const float* statistics;
  float share;  ///< 1 / C
  T* dx;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const float tilt = statistics[row] * share;
    for (std::int64_t c = team.rank(); c < of.x.columns; c += team.size()) {
      const float away = of.weighed(row, c) - of.hat(row, c) * tilt;
      dx[row * of.x.columns + c] = T(away * of.inverse[row]);
    }
  }
};

/// dy x^, by columns.
template <class T, int width>
struct GammaTerms {
  const Pack<T, width>* x;
  const Pack<T, width>* dy;
  const float* inverse;
  std::int64_t packs;

  struct Column {
    GammaTerms of;

    STRATA_ANYWHERE void add(std::int64_t place, ColumnSums<1, width>& sums) const {
      const std::int64_t row = Quotient(place, of.packs).whole;
      const Pack<T, width> values = of.x[place], gradients = of.dy[place];
      for (int lane = 0; lane < width; ++lane) {
        sums.of[0][lane] += static_cast<float>(gradients.values[lane]) *
                            (static_cast<float>(values.values[lane]) * of.inverse[row]);
      }
    }
    STRATA_ANYWHERE void finish(ColumnSums<1, width>&, std::int64_t) const {}
  };
  STRATA_ANYWHERE Column column(std::int64_t, std::int64_t) const { return {*this}; }
};

struct PutGamma {
  float* gradients;
  bool adds;
  STRATA_ANYWHERE void operator()(std::int64_t channel, const float (&sums)[1]) const {
    gradients[channel] = adds ? gradients[channel] + sums[0] : sums[0];
  }
};

template <class T>
class RmsNormKernel : public PhasedKernel {
 public:
  RmsNormKernel(Seat& seat, const ShardSpec& spec, const RmsNorm& op)
      : seat_(seat),
        epsilon_(op.epsilon),
        by_heads_(op.head_size > 0),
        channels_(by_heads_ ? op.head_size : spec.output[Dim::c].size()),
        rows_(volume(spec.output) / channels_),
        count_(static_cast<double>(by_heads_ ? op.head_size : (*spec).output[Dim::c])) {}

 private:
  SquareRows<T> rows(const Operands& operands) const {
    return {static_cast<const T*>(operands.inputs[0].data), rows_, channels_};
  }
  /// A tensor of the rows.
  Tensor<T> as_rows(const Region& region) const {
    return Tensor<T>(Region{region.data, whole({{rows_, channels_, 1, 1, 1}})});
  }
  /// Sums of the rows: those that the shards exchanged, or of heads, which no cut parts, new ones.
  template <class Loop>
  const float* sums_of(const Operands& operands, Loop loop) {
    if (!by_heads_) return operands.statistics;
    loop.statistics =
        static_cast<float*>(seat_.scratch(rows_ * static_cast<std::int64_t>(sizeof(float))));
    teams(seat_.stream(), rows_, loop);
    return loop.statistics;
  }
  DividedRows<T> divided(const Operands& operands) const {
    return {rows(operands), static_cast<const T*>(operands.output_gradient.data),
            operands.parameters, static_cast<const float*>(operands.saved)};
  }

  void forward_statistics(const Operands& operands) override {
    const SquareRows<T> x = rows(operands);
    teams(seat_.stream(), x.rows, RowSquares<T>{x, operands.statistics});
  }

  void forward(const Operands& operands) override {
    const SquareRows<T> x = rows(operands);
    const float* const squares = sums_of(operands, RowSquares<T>{x, nullptr});
    teams(seat_.stream(), x.rows,
          DivideRow<T>{x, squares, operands.parameters, count_, epsilon_,
                       static_cast<T*>(operands.output.data), static_cast<float*>(operands.saved)});
  }

  void backward_statistics(const Operands& operands) override {
    const DividedRows<T> of = divided(operands);
    teams(seat_.stream(), of.x.rows, RowHatProducts<T>{of, operands.statistics});
  }

  void backward_data(const Operands& operands) override {
    const DividedRows<T> of = divided(operands);
    const float* const products = sums_of(operands, RowHatProducts<T>{of, nullptr});
    teams(seat_.stream(), of.x.rows,
          DivideRowGradient<T>{of, products, static_cast<float>(1 / count_),
                               static_cast<T*>(operands.input_gradients[0].data)});
  }

  void backward_weights(const Operands& operands) override {
    const Tensor<T> x = as_rows(operands.inputs[0]), dy = as_rows(operands.output_gradient);
    const auto* const inverse = static_cast<const float*>(operands.saved);
    const PutGamma put{operands.parameter_gradients, operands.adds_parameter_gradients};
    const auto join = [&](const Partials& partials) {
      return JoinSums<1, PutGamma>{partials, put};
    };
    with_width<T>({channels_}, [&](auto width) {
      const GammaTerms<T, width> terms{packed<width>(x).data, packed<width>(dy).data, inverse,
                                       channels_ / width};
      sum_columns<1, width>(x, terms, join, seat_);
    });
  }

  void update(const Operands& operands) override { update_parameters(operands, channels_, seat_); }

  Seat& seat_;
  double epsilon_;
  bool by_heads_;
  std::int64_t channels_, rows_;  ///< of a row in the shard
  double count_;                  ///< channels of a row in the whole layer
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const RmsNorm& op) {
  return make_of_type<RmsNormKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
