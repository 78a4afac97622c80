// p = exp(x - max) / sum, loss = log(sum) + max - x[label], averaged over the N positions of the
// batch of all rounds; dx = (p - [c = label]) / N. A row is a position's classes; rows cut in c
// exchange their maximum and sum. A team takes a row. In bf16 p is kept in fp32 beside the output:
// near 1 the half of its digits that bf16 lacks is what the gradient is made of.

#include <cmath>
#include <limits>

#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

/// A shard's logits, and where its labels are.
template <class T>
struct SoftmaxRows {
  const T* logits;
  std::int64_t rows, columns, first_column;
  const std::int64_t* labels;        ///< of its first row
  std::int64_t positions, of_layer;  ///< of a sample: the shard's, and all

  STRATA_ANYWHERE float logit(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(logits[row * columns + column]);
  }
  /// The label of a row among this shard's columns, or -1.
  STRATA_ANYWHERE std::int64_t label(std::int64_t row) const {
    const Quotient sample(row, positions);
    const std::int64_t column = labels[sample.whole * of_layer + sample.rest] - first_column;
    return column >= 0 && column < columns ? column : -1;
  }
};

template <class T>
struct SoftmaxStatistics {
  SoftmaxRows<T> x;
  float* statistics;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    float most = -std::numeric_limits<float>::infinity(), sum = 0;
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float value = x.logit(row, c);
      most = value > most ? value : most;
    }
    most = team.largest(most);
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      sum += std::exp(x.logit(row, c) - most);
    }
    sum = team.sum(sum);
    if (team.rank() == 0) statistics[2 * row] = most, statistics[2 * row + 1] = sum;
  }
};

template <class T>
struct SoftmaxForward {
  SoftmaxRows<T> x;
  const float* statistics;
  T* output;
  float* kept;  ///< or null

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const float most = statistics[2 * row], sum = statistics[2 * row + 1];
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const float p = std::exp(x.logit(row, c) - most) / sum;
      output[row * x.columns + c] = T(p);
      if (kept != nullptr) kept[row * x.columns + c] = p;
    }
  }
};

/// One team for all rows, so that their sum has one order.
template <class T>
struct SoftmaxLoss {
  SoftmaxRows<T> x;
  const float* statistics;
  double judged;
  LossPart* loss;  ///< of the step that recorded it; see StepState
  const StepState* step;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t) const {
    double sum = 0;
    std::int64_t correct = 0;
    for (std::int64_t row = team.rank(); row < x.rows; row += team.size()) {
      const std::int64_t label = x.label(row);
      if (label < 0) continue;
      const float most = statistics[2 * row], own = x.logit(row, label);
      sum += std::log(static_cast<double>(statistics[2 * row + 1])) + most - own;
      correct += own == most ? 1 : 0;
    }
    sum = team.sum(sum), correct = team.sum(correct);
    if (team.rank() == 0) *own_loss() = {sum / judged, correct};
  }

 private:
  STRATA_ANYWHERE LossPart* own_loss() const {
    return reinterpret_cast<LossPart*>(reinterpret_cast<char*>(loss) + step->loss_shift_bytes);
  }
};

/// P: what p is held as.
template <class T, class P>
struct SoftmaxBackward {
  SoftmaxRows<T> x;
  const P* p;
  T* gradient;
  float share;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t label = x.label(row);
    for (std::int64_t c = team.rank(); c < x.columns; c += team.size()) {
      const std::int64_t i = row * x.columns + c;
      const float above = static_cast<float>(p[i]) - (c == label ? 1.0F : 0.0F);
      gradient[i] = T(above * share);
    }
  }
};

template <class T>
class SoftmaxCrossEntropyKernel : public PhasedKernel {
  static constexpr bool kKeeps = !std::is_same_v<T, float>;

 public:
  SoftmaxCrossEntropyKernel(Seat& seat, const ShardSpec& spec)
      : seat_(seat),
        box_(spec.output),
        positions_((*spec).output[Dim::w]),
        judged_((*spec).output[Dim::n] * positions_) {}

 private:
  /// Labels move when they outgrow their memory; those of all rounds lie there.
  SoftmaxRows<T> rows(const Operands& operands, const void* logits) const {
    const std::int64_t first =
        operands.step->round * judged_ + box_[Dim::n].begin * positions_ + box_[Dim::w].begin;
    return {static_cast<const T*>(logits),
            box_[Dim::n].size() * box_[Dim::w].size(),
            box_[Dim::c].size(),
            box_[Dim::c].begin,
            seat_.labels() + first,
            box_[Dim::w].size(),
            positions_};
  }

  /// Of the batch.
  double judged(const Operands& operands) const {
    return static_cast<double>(judged_ * operands.step->rounds);
  }

  void forward_statistics(const Operands& operands) override {
    const SoftmaxRows<T> x = rows(operands, operands.inputs[0].data);
    teams(seat_.stream(), x.rows, SoftmaxStatistics<T>{x, operands.statistics});
  }

  void forward(const Operands& operands) override {
    const SoftmaxRows<T> x = rows(operands, operands.inputs[0].data);
    teams(seat_.stream(), x.rows,
          SoftmaxForward<T>{x, operands.statistics, static_cast<T*>(operands.output.data),
                            kKeeps ? static_cast<float*>(operands.saved) : nullptr});
    if (operands.loss == nullptr) return;
    teams(seat_.stream(), 1,
          SoftmaxLoss<T>{x, operands.statistics, judged(operands), operands.loss, seat_.step()});
  }

  void backward_data(const Operands& operands) override {
    using P = std::conditional_t<kKeeps, float, T>;
    const void* p = kKeeps ? operands.saved : operands.output.data;
    const SoftmaxRows<T> x = rows(operands, nullptr);
    teams(seat_.stream(), x.rows,
          SoftmaxBackward<T, P>{x, static_cast<const P*>(p),
                                static_cast<T*>(operands.input_gradients[0].data),
                                static_cast<float>(1 / judged(operands))});
  }

  Seat& seat_;
  Box box_;
  std::int64_t positions_;  ///< of a sample of the whole layer
  std::int64_t judged_;     ///< positions of a round
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const SoftmaxCrossEntropy&) {
  return make_of_type<SoftmaxCrossEntropyKernel>(seat.type(), seat, spec);
}

}  // namespace strata::cuda
