// Layer normalisation (Ba, Kiros and Hinton, 2016) of each position (n, d, h, w) over its channels:
// a shard that has some of them gives their moments, and gets those of all C.
//   forward   y = gamma x^ + beta,   x^ = (x - mean) / sqrt(variance + epsilon)
//   backward  dx = (g - sum(g) / C - x^ sum(g x^) / C) / sqrt(variance + epsilon),   g = gamma dy
// with the biased variance M2 / C. The gradients of gamma and beta are the sums of dy x^ and dy
// over the positions.

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

using Pair = std::array<double, 2>;

/// Calls `use` with the input's block as std::integral_constant.
template <class Use>
void with_block(const Operands& operands, const Use& use) {
  const std::int64_t block = Tensor(operands.inputs[0]).block();
  if (block == 16) return use(std::integral_constant<int, 16>());
  if (block == 8) return use(std::integral_constant<int, 8>());
  use(std::integral_constant<int, 1>());
}

/// Two sums over all channels of a place; `terms(i, c)` gives both terms of channel c, whose
/// element lies at i from that of channel 0 of a block of B.
template <int B, class Terms>
Pair sum_channels(const Tensor& x, const Terms& terms) {
  float first[B] = {}, second[B] = {};
  const auto add = [&](int lane, std::int64_t at, std::int64_t c) {
    const auto [a, b] = terms(at + lane, c + lane);
    first[lane] += a, second[lane] += b;
  };
  const std::int64_t channels = x.extents()[Dim::c], stride = x.plane() * B;
  std::int64_t c = 0, at = 0;
  for (; c + B <= channels; c += B, at += stride) {
    for (int lane = 0; lane < B; ++lane) add(lane, at, c);
  }
  for (int lane = 0; c + lane < channels; ++lane) add(lane, at, c);
  Pair sums = {};
  for (int lane = 0; lane < B; ++lane) {
    sums[0] += static_cast<double>(first[lane]), sums[1] += static_cast<double>(second[lane]);
  }
  return sums;
}

/// So many values from `from`, or zeros beyond the end, for the lanes of a block.
template <int B>
std::array<float, B> lanes_of(std::span<const float> from, std::int64_t block, float absent) {
  std::array<float, B> lanes = {};
  for (int k = 0; k < B; ++k) {
    const auto c = static_cast<std::size_t>(block * B + k);
    lanes[k] = c < from.size() ? from[c] : from.empty() ? absent : 0;
  }
  return lanes;
}

class LayerNormKernel : public PhasedKernel {
 public:
  LayerNormKernel(const ShardSpec& spec, const LayerNorm& op)
      : epsilon_(op.epsilon),
        affine_(op.affine),
        channels_(static_cast<std::size_t>(spec.output[Dim::c].size())),
        positions_(static_cast<std::size_t>(volume(spec.output)) / channels_),
        count_(static_cast<double>((*spec).output[Dim::c])) {}

 private:
  void forward_statistics(const Operands& operands) override {
    with_block(operands, [&](auto block) { moments<block>(operands); });
  }
  void forward(const Operands& operands) override {
    with_block(operands, [&](auto block) { normalize<block>(operands); });
  }
  void backward_statistics(const Operands& operands) override {
    with_block(operands, [&](auto block) { products<block>(operands); });
  }
  void backward_data(const Operands& operands) override {
    with_block(operands, [&](auto block) { normalize_gradient<block>(operands); });
  }
  void backward_weights(const Operands& operands) override {
    with_block(operands, [&](auto block) { parameter_gradients<block>(operands); });
  }
  void update(const Operands& operands) override {
    sgd(operands, 2 * static_cast<std::int64_t>(channels_));
  }

  /// Of each position; the numbers are the forward pass's.
  struct Kept {
    const float* mean;
    const float* inverse;  ///< 1 / sqrt(variance + epsilon)
  };
  Kept kept(const Operands& operands) const {
    const auto* mean = static_cast<const float*>(operands.saved);
    return {mean, mean + positions_};
  }
  std::span<const float> scale(const Operands& operands) const {
    return affine_ ? std::span(operands.parameters, channels_) : std::span<const float>();
  }
  std::span<const float> shift(const Operands& operands) const {
    return affine_ ? std::span(operands.parameters + channels_, channels_)
                   : std::span<const float>();
  }

  /// visit(position, the offset of its first channel).
  template <int B, class Visit>
  static void each_position(const Tensor& x, const Visit& visit) {
    std::int64_t position = 0;
    for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
      const std::int64_t first = x.block_at(n, 0) - x.data();
      for (std::int64_t p = 0; p < x.plane(); ++p) visit(position++, first + p * B);
    }
  }
  /// visit(position, the offset of its lanes) for one block of channels, in a sample.
  template <int B, class Visit>
  static void each_place(const Tensor& x, std::int64_t n, std::int64_t block, const Visit& visit) {
    const std::int64_t first = x.block_at(n, block) - x.data();
    for (std::int64_t p = 0; p < x.plane(); ++p) visit(n * x.plane() + p, first + p * B);
  }

  // Around the mean: sums of squares around zero would lose what varies.
  template <int B>
  void moments(const Operands& operands) const {
    const Tensor x(operands.inputs[0]);
    each_position<B>(x, [&](std::int64_t position, std::int64_t first) {
      const float* at = x.data() + first;
      const auto value = [&](std::int64_t i, std::int64_t) { return std::array{at[i], 0.0F}; };
      const double mean = sum_channels<B>(x, value)[0] / static_cast<double>(channels_);
      const auto near = static_cast<float>(mean);
      const auto [rest, squares] = sum_channels<B>(x, [&](std::int64_t i, std::int64_t) {
        const float off = at[i] - near;
        return std::array{off, off * off};
      });
      const double away = rest / static_cast<double>(channels_);
      operands.statistics[2 * position] = static_cast<float>(static_cast<double>(near) + away);
      operands.statistics[2 * position + 1] = static_cast<float>(squares - rest * away);
    });
  }

  template <int B>
  void normalize(const Operands& operands) {
    const Tensor x(operands.inputs[0]), y(operands.output);
    if (operands.saved == nullptr) forgotten_.resize(2 * positions_);
    float* const mean =
        operands.saved != nullptr ? static_cast<float*>(operands.saved) : forgotten_.data();
    float* const inverse = mean + positions_;
    for (std::size_t i = 0; i < positions_; ++i) {
      mean[i] = operands.statistics[2 * i];
      const double variance = static_cast<double>(operands.statistics[2 * i + 1]) / count_;
      inverse[i] = static_cast<float>(1 / std::sqrt(variance + epsilon_));
    }
    for (std::int64_t block = 0; block < x.blocks(); ++block) {
      const auto gamma = lanes_of<B>(scale(operands), block, 1);
      const auto beta = lanes_of<B>(shift(operands), block, 0);
      for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
        each_place<B>(x, n, block, [&](std::int64_t i, std::int64_t at) {
          std::array<float, B> lanes;
          for (int k = 0; k < B; ++k) {
            lanes[k] = (x.data()[at + k] - mean[i]) * inverse[i] * gamma[k] + beta[k];
          }
          std::copy_n(lanes.begin(), B, y.data() + at);
        });
      }
    }
    zero_unused(y);
  }

  template <int B>
  void products(const Operands& operands) const {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Kept of = kept(operands);
    const std::span<const float> gamma = scale(operands);
    each_position<B>(x, [&](std::int64_t position, std::int64_t first) {
      const float *values = x.data() + first, *gradients = dy.data() + first;
      const float mean = of.mean[position], inverse = of.inverse[position];
      const auto terms = [&](std::int64_t i, std::int64_t c) {
        const float g = gamma.empty() ? gradients[i] : gradients[i] * gamma[c];
        return std::array{g, g * ((values[i] - mean) * inverse)};
      };
      const Pair sums = sum_channels<B>(x, terms);
      operands.statistics[2 * position] = static_cast<float>(sums[0]);
      operands.statistics[2 * position + 1] = static_cast<float>(sums[1]);
    });
  }

  template <int B>
  void normalize_gradient(const Operands& operands) const {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Tensor dx(operands.input_gradients[0]);
    const Kept of = kept(operands);
    const auto share = static_cast<float>(1 / count_);
    for (std::int64_t block = 0; block < x.blocks(); ++block) {
      const auto gamma = lanes_of<B>(scale(operands), block, 1);
      for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
        each_place<B>(x, n, block, [&](std::int64_t i, std::int64_t at) {
          const float offset = operands.statistics[2 * i] * share;
          const float tilt = operands.statistics[2 * i + 1] * share;
          std::array<float, B> lanes;
          for (int k = 0; k < B; ++k) {
            const float hat = (x.data()[at + k] - of.mean[i]) * of.inverse[i];
            lanes[k] = (dy.data()[at + k] * gamma[k] - offset - hat * tilt) * of.inverse[i];
          }
          std::copy_n(lanes.begin(), B, dx.data() + at);
        });
      }
    }
    zero_unused(dx);
  }

  // Single precision within a sample, double precision over them.
  template <int B>
  void parameter_gradients(const Operands& operands) const {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Kept of = kept(operands);
    for (std::int64_t block = 0; block < x.blocks(); ++block) {
      std::array<double, B> of_gamma = {}, of_beta = {};
      for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
        std::array<float, B> products = {}, sums = {};
        each_place<B>(x, n, block, [&](std::int64_t i, std::int64_t at) {
          for (int k = 0; k < B; ++k) {
            const float gradient = dy.data()[at + k];
            products[k] += gradient * ((x.data()[at + k] - of.mean[i]) * of.inverse[i]);
            sums[k] += gradient;
          }
        });
        for (int k = 0; k < B; ++k) {
          of_gamma[k] += static_cast<double>(products[k]);
          of_beta[k] += static_cast<double>(sums[k]);
        }
      }
      const auto first = static_cast<std::size_t>(block * B);
      for (std::size_t k = 0; k < B && first + k < channels_; ++k) {
        operands.parameter_gradients[first + k] = static_cast<float>(of_gamma[k]);
        operands.parameter_gradients[channels_ + first + k] = static_cast<float>(of_beta[k]);
      }
    }
  }

  double epsilon_;
  bool affine_;
  std::size_t channels_, positions_;
  double count_;                  ///< channels of the whole layer
  std::vector<float> forgotten_;  ///< means and inverses, where no backward pass will ask
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const LayerNorm& op) {
  return std::make_unique<LayerNormKernel>(spec, op);
}

}  // namespace strata::cpu
