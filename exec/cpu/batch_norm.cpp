// Batch normalisation (Ioffe and Szegedy, 2015) with the statistics of the whole batch, whatever
// the cut: a shard gives its moments, and gets everybody's.
//   forward   y = gamma x^ + beta,   x^ = (x - mean) / sqrt(variance + epsilon)
//   backward  dx = gamma / sqrt(variance + epsilon) (dy - sum(dy) / M - x^ sum(dy x^) / M)
// with sums over the M elements of a channel and the biased variance M2 / M.

#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

/// A value per channel, with zeros for the unused places of the last block.
using PerChannel = std::vector<float>;

class BatchNormKernel : public PhasedKernel {
 public:
  BatchNormKernel(const ShardSpec& spec, const BatchNorm& op)
      : epsilon_(op.epsilon),
        channels_(static_cast<std::size_t>(spec.output[Dim::c].size())),
        count_(static_cast<double>(volume((*spec).output)) /
               static_cast<double>((*spec).output[Dim::c])) {
    const Tensor shape(nullptr, spec.output);
    const auto lanes = static_cast<std::size_t>(shape.blocks() * shape.block());
    for (PerChannel* values : {&mean_, &inverse_, &scale_, &shift_, &offset_, &tilt_}) {
      values->resize(lanes);
    }
  }

 private:
  static const BlockLoops& loops_of(const Tensor& x) {
    return x.block() == 1 ? loops().singles : loops().blocks;
  }

  template <class Visit>
  static void each_block(const Tensor& x, Visit visit) {
    for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
      for (std::int64_t cb = 0; cb < x.blocks(); ++cb) visit(n, cb, cb * x.block());
    }
  }

  // Sums of squares lose no digits when taken around a value near the mean.
  PerChannel near(const Tensor& x) const {
    PerChannel near(mean_.size());
    const std::int64_t places = std::min<std::int64_t>(x.plane(), 32);
    for (std::size_t c = 0; c < channels_; ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      const float* at = x.block_at(0, channel / x.block()) + channel % x.block();
      for (std::int64_t p = 0; p < places; ++p) near[c] += at[p * x.block()];
      near[c] /= static_cast<float>(places);
    }
    return near;
  }

  void forward_statistics(const Operands& operands) override {
    const Tensor x(operands.inputs[0]);
    const PerChannel around = near(x);
    std::vector<double> sums(2 * mean_.size());
    each_block(x, [&](std::int64_t n, std::int64_t cb, std::int64_t lane) {
      loops_of(x).moments(x.block_at(n, cb), x.plane(), &around[lane], &sums[2 * lane]);
    });
    const auto count = static_cast<double>(x.extents()[Dim::n] * x.plane());
    for (std::size_t c = 0; c < channels_; ++c) {
      const auto [first, second] = sums_of(sums, x.block(), c);
      operands.statistics[2 * c] = static_cast<float>(around[c] + first / count);
      operands.statistics[2 * c + 1] = static_cast<float>(second - first * first / count);
    }
  }

  struct Pair {
    double first, second;
  };
  /// Of block after block, first all lanes' first sums, then all second ones.
  static Pair sums_of(const std::vector<double>& sums, std::int64_t block, std::size_t c) {
    const auto b = static_cast<std::size_t>(block);
    const std::size_t at = c / b * 2 * b + c % b;
    return {sums[at], sums[at + b]};
  }

  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    for (std::size_t c = 0; c < channels_; ++c) {
      const double variance = operands.statistics[2 * c + 1] / count_;
      mean_[c] = operands.statistics[2 * c];
      inverse_[c] = static_cast<float>(1 / std::sqrt(variance + epsilon_));
      scale_[c] = operands.parameters[c] * inverse_[c];
      shift_[c] = operands.parameters[channels_ + c];
    }
    if (operands.saved != nullptr) save(static_cast<float*>(operands.saved));
    each_block(x, [&](std::int64_t n, std::int64_t cb, std::int64_t lane) {
      loops_of(x).normalize(lanes(lane), x.block_at(n, cb), x.plane(), y.block_at(n, cb));
    });
  }

  void save(float* to) const {
    for (const PerChannel* values : {&mean_, &inverse_, &scale_}) {
      to = std::copy_n(values->begin(), channels_, to);
    }
  }
  void load(const Operands& operands) {
    const auto* from = static_cast<const float*>(operands.saved);
    for (PerChannel* values : {&mean_, &inverse_, &scale_}) {
      std::copy_n(from, channels_, values->begin());
      from += channels_;
    }
  }

  void backward_statistics(const Operands& operands) override {
    load(operands);
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    std::vector<double> sums(2 * mean_.size());
    each_block(x, [&](std::int64_t n, std::int64_t cb, std::int64_t lane) {
      loops_of(x).products(dy.block_at(n, cb), x.block_at(n, cb), x.plane(), &mean_[lane],
                           &sums[2 * lane]);
    });
    for (std::size_t c = 0; c < channels_; ++c) {
      const auto [first, second] = sums_of(sums, x.block(), c);
      operands.statistics[2 * c] = static_cast<float>(first);
      operands.statistics[2 * c + 1] = static_cast<float>(second * inverse_[c]);
    }
    give_gradients(operands);
  }

  void give_gradients(const Operands& operands) const {
    float* const of_gamma = operands.parameter_gradients;
    float* const of_beta = of_gamma + channels_;
    if (!operands.adds_parameter_gradients) std::fill_n(of_gamma, 2 * channels_, 0.0F);
    for (std::size_t c = 0; c < channels_; ++c) {
      of_gamma[c] += operands.statistics[2 * c + 1];
      of_beta[c] += operands.statistics[2 * c];
    }
  }

  void backward_data(const Operands& operands) override {
    load(operands);
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Tensor dx(operands.input_gradients[0]);
    for (std::size_t c = 0; c < channels_; ++c) {
      offset_[c] = static_cast<float>(operands.statistics[2 * c] / count_);
      tilt_[c] = static_cast<float>(operands.statistics[2 * c + 1] / count_ * inverse_[c]);
    }
    each_block(x, [&](std::int64_t n, std::int64_t cb, std::int64_t lane) {
      loops_of(x).normalize_gradient(lanes(lane), dy.block_at(n, cb), x.block_at(n, cb), x.plane(),
                                     dx.block_at(n, cb));
    });
  }

  void update(const Operands& operands) override {
    update_parameters(operands, 2 * static_cast<std::int64_t>(channels_));
  }

  NormLanes lanes(std::int64_t lane) const {
    return {&mean_[lane], &scale_[lane], &shift_[lane], &offset_[lane], &tilt_[lane]};
  }

  double epsilon_;
  std::size_t channels_;
  double count_;  ///< elements of a channel in the whole batch
  // While a phase runs.
  PerChannel mean_, inverse_, scale_, shift_, offset_, tilt_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const BatchNorm& op) {
  return std::make_unique<BatchNormKernel>(spec, op);
}

}  // namespace strata::cpu
