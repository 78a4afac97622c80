// Layer normalisation (Ba, Kiros and Hinton, 2016) of each position (n, d, h, w) over its channels:
// a shard that has some of them gives their moments, and gets those of all C.
//   forward   y = gamma x^ + beta,   x^ = (x - mean) / sqrt(variance + epsilon)
//   backward  dx = (g - sum(g) / C - x^ sum(g x^) / C) / sqrt(variance + epsilon),   g = gamma dy
// with the biased variance M2 / C. The gradients of gamma and beta are the sums of dy x^ and dy
// over the positions.

#include <cmath>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/position_norm.h"

namespace strata::cpu {
namespace {

class LayerNormKernel : public PhasedKernel {
 public:
  LayerNormKernel(const ShardSpec& spec, const LayerNorm& op)
      : norm_(spec), epsilon_(op.epsilon), affine_(op.affine) {}

 private:
  void forward_statistics(const Operands& operands) override {
    norm_.moments(Tensor(operands.inputs[0]), operands.statistics);
  }

  void forward(const Operands& operands) override {
    const std::int64_t positions = norm_.positions();
    if (operands.saved == nullptr) forgotten_.resize(static_cast<std::size_t>(2 * positions));
    float* const mean =
        operands.saved != nullptr ? static_cast<float*>(operands.saved) : forgotten_.data();
    float* const inverse = mean + positions;
    for (std::int64_t i = 0; i < positions; ++i) {
      mean[i] = operands.statistics[2 * i];
      const double variance = static_cast<double>(operands.statistics[2 * i + 1]) / norm_.count();
      inverse[i] = static_cast<float>(1 / std::sqrt(variance + epsilon_));
    }
    norm_.normalize(Tensor(operands.inputs[0]), {mean, inverse}, scale(operands), shift(operands),
                    Tensor(operands.output));
  }

  void backward_statistics(const Operands& operands) override {
    norm_.products(Tensor(operands.inputs[0]), Tensor(operands.output_gradient), kept(operands),
                   scale(operands), operands.statistics);
  }

  void backward_data(const Operands& operands) override {
    norm_.gradient(Tensor(operands.inputs[0]), Tensor(operands.output_gradient), kept(operands),
                   scale(operands), operands.statistics, Tensor(operands.input_gradients[0]));
  }

  void backward_weights(const Operands& operands) override {
    float* const gradients = operands.parameter_gradients;
    norm_.parameter_gradients(Tensor(operands.inputs[0]), Tensor(operands.output_gradient),
                              kept(operands), operands.adds_parameter_gradients, gradients,
                              gradients + norm_.channels());
  }

  void update(const Operands& operands) override {
    update_parameters(operands, 2 * norm_.channels());
  }

  PlaceNorms kept(const Operands& operands) const {
    const auto* mean = static_cast<const float*>(operands.saved);
    return {mean, mean + norm_.positions()};
  }
  std::span<const float> scale(const Operands& operands) const { return of(operands, 0); }
  std::span<const float> shift(const Operands& operands) const {
    return of(operands, norm_.channels());
  }
  std::span<const float> of(const Operands& operands, std::int64_t first) const {
    if (!affine_) return {};
    return {operands.parameters + first, static_cast<std::size_t>(norm_.channels())};
  }

  PositionNorm norm_;
  double epsilon_;
  bool affine_;
  std::vector<float> forgotten_;  ///< means and inverses, where no backward pass will ask
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const LayerNorm& op) {
  return std::make_unique<LayerNormKernel>(spec, op);
}

}  // namespace strata::cpu
