// p = exp(x - max) / sum, loss = log(sum) + max - x[label], averaged over the N positions of the
// batch of all rounds; dx = (p - [c = label]) / N. Positions cut in c exchange their maximum and
// sum.

#include <cmath>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

class SoftmaxCrossEntropyKernel : public PhasedKernel {
 public:
  explicit SoftmaxCrossEntropyKernel(const ShardSpec& spec)
      : box_(spec.output),
        width_((*spec).output[Dim::w]),
        positions_((*spec).output[Dim::n] * width_) {}

 private:
  std::int64_t columns() const { return box_[Dim::c].size(); }
  double judged(const Operands& operands) const {
    return static_cast<double>(positions_ * operands.step->rounds);
  }

  /// The label of a position among this shard's columns, or -1.
  std::int64_t label(const Operands& operands, std::int64_t n, std::int64_t w) const {
    const std::int64_t at = (box_[Dim::n].begin + n) * width_ + box_[Dim::w].begin + w;
    const std::int64_t column =
        operands.step->labels[static_cast<std::size_t>(at)] - box_[Dim::c].begin;
    return column >= 0 && column < columns() ? column : -1;
  }

  /// visit(n, w, its number among the shard's positions, its label) for those that have one here.
  template <class Visit>
  void each_label(const Operands& operands, const Visit& visit) const {
    std::int64_t position = 0;
    for (std::int64_t n = 0; n < box_[Dim::n].size(); ++n) {
      for (std::int64_t w = 0; w < box_[Dim::w].size(); ++w, ++position) {
        if (const std::int64_t at = label(operands, n, w); at >= 0) visit(n, w, position, at);
      }
    }
  }

  static const BlockLoops& loops_of(const Tensor& x) {
    return x.block() == 1 ? loops().singles : loops().blocks;
  }

  void forward_statistics(const Operands& operands) override {
    const Tensor x(operands.inputs[0]);
    for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
      loops_of(x).place_exponentials({columns(), x.plane(), x.plane() * x.block()},
                                     x.block_at(n, 0), operands.statistics + 2 * n * x.plane());
    }
  }

  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), p(operands.output);
    LossPart part;
    each_label(operands, [&](std::int64_t n, std::int64_t w, std::int64_t position,
                             std::int64_t at) {
      const float *pair = operands.statistics + 2 * position, logit = x.at(n, at, 0, 0, w);
      part.loss += (std::log(static_cast<double>(pair[1])) + pair[0] - logit) / judged(operands);
      part.correct += logit == pair[0] ? 1 : 0;
    });
    for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
      for (std::int64_t block = 0; block < x.blocks(); ++block) {
        loops_of(x).softmax(operands.statistics + 2 * n * x.plane(), x.block_at(n, block),
                            x.plane(), p.block_at(n, block));
      }
    }
    zero_unused(p);
    if (operands.loss != nullptr) *operands.loss = part;
  }

  void backward_data(const Operands& operands) override {
    const Tensor p(operands.output), dx(operands.input_gradients[0]);
    const auto share = static_cast<float>(1 / judged(operands));
    float* __restrict to = dx.data();
    const float* const from = p.data();
    for (std::int64_t i = 0; i < p.padded_size(); ++i) to[i] = from[i] * share;
    each_label(operands, [&](std::int64_t n, std::int64_t w, std::int64_t, std::int64_t at) {
      dx.at(n, at, 0, 0, w) = (p.at(n, at, 0, 0, w) - 1) * share;
    });
  }

  Box box_;
  std::int64_t width_;      ///< positions of a sample of the whole layer
  std::int64_t positions_;  ///< of a round
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const SoftmaxCrossEntropy&) {
  return std::make_unique<SoftmaxCrossEntropyKernel>(spec);
}

}  // namespace strata::cpu
