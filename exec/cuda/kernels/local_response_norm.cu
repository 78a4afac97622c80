// Normalisation across channels (Krizhevsky et al., 2012, as PyTorch counts it):
//   s_i = k + alpha / size * sum over j in [i - (size-1)/2, i + size/2] of x_j^2,  y_i = x_i s_i^-b
//   dx_i = dy_i s_i^-b - 2 alpha b / size * x_i * sum over the j whose window holds i of
//          dy_j x_j s_j^(-b-1)
// with b = beta. A shard's input reaches beyond its output's channels where the tensor does. Its
// gradient is what this shard's outputs make of it.

#include <algorithm>
#include <cmath>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {
namespace {

/// Elements that a backward pass works on at once: what lies between its two loops stays in cache.
constexpr std::int64_t kElementsAtOnce = std::int64_t{1} << 20U;

/// Channels are local: output c is made of input first + c and its neighbours.
struct ResponseNorm {
  std::int64_t inputs, outputs, first;
  std::int64_t before, after;  ///< neighbours that a window has
  float k, share, beta, factor;
  bool three_quarters;  ///< beta is: two roots are faster than a power

  STRATA_ANYWHERE float power(float s) const {
    if (!three_quarters) return std::pow(s, -beta);
    const float root = std::sqrt(s);
    return 1.0F / (root * std::sqrt(root));
  }
  /// s of an output, from the channels of its position.
  template <class T>
  STRATA_ANYWHERE float around(const T* x, std::int64_t output) const {
    const std::int64_t at = first + output;
    const std::int64_t begin = at < before ? 0 : at - before;
    const std::int64_t end = at + after < inputs ? at + after + 1 : inputs;
    float sum = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const auto value = static_cast<float>(x[j]);
      sum += value * value;
    }
    return k + share * sum;
  }
};

template <class T>
struct ResponseNormForward {
  ResponseNorm norm;
  const T* x;
  T* y;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient at(i, norm.outputs);
    const T* row = x + at.whole * norm.inputs;
    const float value = static_cast<float>(row[norm.first + at.rest]);
    y[i] = T(value * norm.power(norm.around(row, at.rest)));
  }
};

/// What an output gives to its own input, and what times x_i to every input of its window.
struct ResponseShare {
  float own, around;
};

template <class T>
struct ResponseShares {
  ResponseNorm norm;
  const T* x;
  const T* dy;
  ResponseShare* shares;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient at(i, norm.outputs);
    const T* row = x + at.whole * norm.inputs;
    const float s = norm.around(row, at.rest);
    const float own = static_cast<float>(dy[i]) * norm.power(s);
    shares[i] = {own, norm.factor * own * static_cast<float>(row[norm.first + at.rest]) / s};
  }
};

template <class T>
struct ResponseNormBackward {
  ResponseNorm norm;
  const T* x;
  const ResponseShare* shares;
  T* dx;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient at(i, norm.inputs);
    const ResponseShare* row = shares + at.whole * norm.outputs;
    const std::int64_t own = at.rest - norm.first;
    const std::int64_t begin = own < norm.after ? 0 : own - norm.after;
    const std::int64_t end =
        own + norm.before < norm.outputs ? own + norm.before + 1 : norm.outputs;
    float sum = 0;
    for (std::int64_t j = begin; j < end; ++j) sum += row[j].around;
    sum *= static_cast<float>(x[i]);
    if (own >= 0 && own < norm.outputs) sum += row[own].own;
    dx[i] = T(sum);
  }
};

ResponseNorm response_norm(const ShardSpec& spec, const LocalResponseNorm& op) {
  const Interval input = spec.inputs[0][0][Dim::c], output = spec.output[Dim::c];
  const double share = op.alpha / static_cast<double>(op.size);
  return {input.size(),
          output.size(),
          output.begin - input.begin,
          (op.size - 1) / 2,
          op.size / 2,
          static_cast<float>(op.k),
          static_cast<float>(share),
          static_cast<float>(op.beta),
          static_cast<float>(-2 * share * op.beta),
          op.beta == 0.75};
}

template <class T>
class LocalResponseNormKernel : public PhasedKernel {
 public:
  LocalResponseNormKernel(Seat& seat, const ShardSpec& spec, const LocalResponseNorm& op)
      : seat_(seat), norm_(response_norm(spec, op)) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor<const T> x(operands.inputs[0]);
    const Tensor<T> y(operands.output);
    each(seat_.stream(), y.size.count(), ResponseNormForward<T>{norm_, x.data, y.data});
  }

  void backward_data(const Operands& operands) override {
    const Tensor<const T> x(operands.inputs[0]), dy(operands.output_gradient);
    const Tensor<T> dx(operands.input_gradients[0]);
    const std::int64_t rows = x.size.positions();
    const std::int64_t at_once = std::clamp<std::int64_t>(kElementsAtOnce / norm_.outputs, 1,
                                                          std::max<std::int64_t>(rows, 1));
    const auto each_share = static_cast<std::int64_t>(sizeof(ResponseShare));
    auto* shares = static_cast<ResponseShare*>(seat_.scratch(at_once * norm_.outputs * each_share));
    for (std::int64_t row = 0; row < rows; row += at_once) {
      const std::int64_t count = std::min(at_once, rows - row);
      const T* input = x.data + row * norm_.inputs;
      each(seat_.stream(), count * norm_.outputs,
           ResponseShares<T>{norm_, input, dy.data + row * norm_.outputs, shares});
      each(seat_.stream(), count * norm_.inputs,
           ResponseNormBackward<T>{norm_, input, shares, dx.data + row * norm_.inputs});
    }
  }

  Seat& seat_;
  ResponseNorm norm_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec,
                                    const LocalResponseNorm& op) {
  return make_of_type<LocalResponseNormKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
