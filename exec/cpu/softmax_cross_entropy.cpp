// p = exp(x - max) / sum, loss = log(sum) + max - x[label], averaged over the global batch N;
// dx = (p - [c = label]) / N. Rows cut in c exchange their maximum and sum.

#include <algorithm>
#include <cmath>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

class SoftmaxCrossEntropyKernel : public PhasedKernel {
 public:
  explicit SoftmaxCrossEntropyKernel(const ShardSpec& spec)
      : box_(spec.output), batch_(static_cast<double>((*spec).output[Dim::n])) {}

 private:
  std::int64_t rows() const { return box_[Dim::n].size(); }
  std::int64_t columns() const { return box_[Dim::c].size(); }

  /// The label of a row among this shard's columns, or -1.
  std::int64_t label(const Operands& operands, std::int64_t row) const {
    const auto sample = static_cast<std::size_t>(box_[Dim::n].begin + row);
    const std::int64_t column = operands.step->labels[sample] - box_[Dim::c].begin;
    return column >= 0 && column < columns() ? column : -1;
  }

  void forward_statistics(const Operands& operands) override {
    const Tensor input(operands.inputs[0]);
    for (std::int64_t n = 0; n < rows(); ++n) {
      const float* x = input.block_at(n, 0);
      const float most = *std::max_element(x, x + columns());
      double sum = 0;
      for (std::int64_t c = 0; c < columns(); ++c) sum += std::exp(x[c] - most);
      operands.statistics[2 * n] = most;
      operands.statistics[2 * n + 1] = static_cast<float>(sum);
    }
  }

  void forward(const Operands& operands) override {
    const Tensor input(operands.inputs[0]), output(operands.output);
    LossPart part;
    for (std::int64_t n = 0; n < rows(); ++n) {
      const float *x = input.block_at(n, 0), *row = operands.statistics + 2 * n;
      float* p = output.block_at(n, 0);
      if (const std::int64_t at = label(operands, n); at >= 0) {
        part.loss += (std::log(static_cast<double>(row[1])) + row[0] - x[at]) / batch_;
        part.correct += x[at] == row[0] ? 1 : 0;
      }
      for (std::int64_t c = 0; c < columns(); ++c) p[c] = std::exp(x[c] - row[0]) / row[1];
    }
    zero_unused(output);
    if (operands.loss != nullptr) *operands.loss = part;
  }

  void backward_data(const Operands& operands) override {
    const Tensor output(operands.output), gradient(operands.input_gradients[0]);
    const auto share = static_cast<float>(1 / batch_);
    for (std::int64_t n = 0; n < rows(); ++n) {
      const float* p = output.block_at(n, 0);
      float* dx = gradient.block_at(n, 0);
      for (std::int64_t c = 0; c < columns(); ++c) dx[c] = p[c] * share;
      if (const std::int64_t at = label(operands, n); at >= 0) dx[at] = (p[at] - 1) * share;
    }
    zero_unused(gradient);
  }

  Box box_;
  double batch_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const SoftmaxCrossEntropy&) {
  return std::make_unique<SoftmaxCrossEntropyKernel>(spec);
}

}  // namespace strata::cpu
