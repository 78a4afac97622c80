// Root mean square normalisation of each head of a position by itself, with one scale for all heads
// (queries and keys of Henry et al., 2020): rms_norm.cpp's formulas, C being a head's channels.
// Heads are packed one after another, so that the loops find whole channel blocks whatever their
// size.

#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/cpu/attention_heads.h"
#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

class HeadNormKernel : public PhasedKernel {
 public:
  HeadNormKernel(const ShardSpec& spec, const RmsNorm& op)
      : size_(op.head_size),
        samples_(spec.output[Dim::n].size()),
        heads_(spec.output[Dim::c].size() / size_),
        positions_(volume(spec.output) / samples_ / spec.output[Dim::c].size()),
        epsilon_(op.epsilon) {
    const auto floats = static_cast<std::size_t>(packed_size(positions_, size_));
    x_.resize(floats), dy_.resize(floats), made_.resize(floats);
    zeros_.resize(floats + static_cast<std::size_t>(2 * positions_));
    scale_.resize(floats / static_cast<std::size_t>(positions_));
    pairs_.resize(static_cast<std::size_t>(2 * positions_));
  }

 private:
  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    take_scale(operands);
    if (operands.saved == nullptr) {
      forgotten_.resize(static_cast<std::size_t>(samples_ * heads_ * positions_));
    }
    auto* inverse =
        operands.saved != nullptr ? static_cast<float*>(operands.saved) : forgotten_.data();
    each_head([&](const HeadPlace& place, std::int64_t) {
      pack_head(x_.data(), x, place);
      loops().blocks.place_moments(blocks(), x_.data(), zeros_.data(), pairs_.data());
      for (std::int64_t p = 0; p < positions_; ++p) {
        const auto squares = static_cast<double>(pairs_[static_cast<std::size_t>(2 * p + 1)]);
        const double mean = squares / static_cast<double>(size_);
        inverse[p] = static_cast<float>(1 / std::sqrt(mean + epsilon_));
      }
      each_block([&](std::int64_t channel, std::int64_t at) {
        loops().blocks.normalize_places({zeros_.data(), inverse}, scale_.data() + channel,
                                        zeros_.data(), x_.data() + at, positions_,
                                        made_.data() + at);
      });
      unpack_head(y, made_.data(), place);
      inverse += positions_;
    });
    zero_unused(y);
  }

  void backward_data(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Tensor dx(operands.input_gradients[0]);
    const auto share = static_cast<float>(1 / static_cast<double>(size_));
    take_scale(operands);
    each_head([&](const HeadPlace& place, std::int64_t head) {
      const PlaceNorms norms = kept(operands, head);
      pack_head(x_.data(), x, place);
      pack_head(dy_.data(), dy, place);
      loops().blocks.place_products(blocks(), dy_.data(), x_.data(), scale_.data(), norms,
                                    pairs_.data());
      for (std::size_t i = 0; i < pairs_.size(); i += 2) pairs_[i] = 0;  // no mean was taken
      each_block([&](std::int64_t channel, std::int64_t at) {
        loops().blocks.normalize_places_gradient(norms, scale_.data() + channel, pairs_.data(),
                                                 share, dy_.data() + at, x_.data() + at, positions_,
                                                 made_.data() + at);
      });
      unpack_head(dx, made_.data(), place);
    });
    zero_unused(dx);
  }

  void backward_weights(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const std::int64_t lanes = loops().lanes;
    std::vector<double> sums(2 * scale_.size());
    each_head([&](const HeadPlace& place, std::int64_t head) {
      pack_head(x_.data(), x, place);
      pack_head(dy_.data(), dy, place);
      each_block([&](std::int64_t channel, std::int64_t at) {
        std::vector<double> of_block(static_cast<std::size_t>(2 * lanes));
        loops().blocks.scale_products(kept(operands, head), dy_.data() + at, x_.data() + at,
                                      positions_, of_block.data());
        for (std::int64_t k = 0; k < lanes; ++k) {
          sums[static_cast<std::size_t>(channel + k)] += of_block[static_cast<std::size_t>(k)];
        }
      });
    });
    float* const to = operands.parameter_gradients;
    for (std::int64_t c = 0; c < size_; ++c) {
      const auto sum = static_cast<float>(sums[static_cast<std::size_t>(c)]);
      to[c] = operands.adds_parameter_gradients ? to[c] + sum : sum;
    }
  }

  void update(const Operands& operands) override { update_parameters(operands, size_); }

  /// visit(place, number among the shard's)
  template <class Visit>
  void each_head(const Visit& visit) const {
    for (std::int64_t n = 0; n < samples_; ++n) {
      for (std::int64_t head = 0; head < heads_; ++head) {
        visit({n, head * size_, 0, positions_, size_}, n * heads_ + head);
      }
    }
  }
  /// visit(first channel, place in a packed head)
  template <class Visit>
  void each_block(const Visit& visit) const {
    const std::int64_t lanes = loops().lanes;
    for (std::int64_t c = 0; c < size_; c += lanes) visit(c, c * positions_);
  }
  ChannelBlocks blocks() const { return {size_, positions_, positions_ * loops().lanes}; }
  PlaceNorms kept(const Operands& operands, std::int64_t head) const {
    return {zeros_.data(), static_cast<const float*>(operands.saved) + head * positions_};
  }
  void take_scale(const Operands& operands) {
    std::copy_n(operands.parameters, size_, scale_.begin());
  }

  std::int64_t size_, samples_, heads_, positions_;
  double epsilon_;
  std::vector<float> x_, dy_, made_;  ///< a packed head each
  std::vector<float> scale_;          ///< zero beyond the head's channels
  std::vector<float> zeros_, pairs_;  ///< pairs: of each position, as the loops have sums
  std::vector<float> forgotten_;      ///< inverses, where no backward pass will ask
};

}  // namespace

std::unique_ptr<Kernel> make_head_norm(const ShardSpec& spec, const RmsNorm& op) {
  return std::make_unique<HeadNormKernel>(spec, op);
}

}  // namespace strata::cpu
