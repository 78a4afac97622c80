// Root mean square normalisation (Zhang and Sennrich, 2019) of each position over its channels: a
// layer norm whose mean is zero.
//   forward   y = gamma x^,   x^ = x / sqrt(sum(x^2) / C + epsilon)
//   backward  dx = (g - x^ sum(g x^) / C) / sqrt(sum(x^2) / C + epsilon),   g = gamma dy

#include <cmath>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/position_norm.h"

namespace strata::cpu {
namespace {

class RmsNormKernel : public PhasedKernel {
 public:
  RmsNormKernel(const ShardSpec& spec, const RmsNorm& op) : norm_(spec), epsilon_(op.epsilon) {}

 private:
  void forward_statistics(const Operands& operands) override {
    norm_.squares(Tensor(operands.inputs[0]), operands.statistics);
  }

  void forward(const Operands& operands) override {
    const std::int64_t positions = norm_.positions();
    if (operands.saved == nullptr) forgotten_.resize(static_cast<std::size_t>(positions));
    float* const inverse =
        operands.saved != nullptr ? static_cast<float*>(operands.saved) : forgotten_.data();
    for (std::int64_t i = 0; i < positions; ++i) {
      const double mean = static_cast<double>(operands.statistics[i]) / norm_.count();
      inverse[i] = static_cast<float>(1 / std::sqrt(mean + epsilon_));
    }
    norm_.normalize(Tensor(operands.inputs[0]), {norm_.zeros(), inverse}, scale(operands), {},
                    Tensor(operands.output));
  }

  void backward_statistics(const Operands& operands) override {
    pairs_.resize(static_cast<std::size_t>(2 * norm_.positions()));
    norm_.products(Tensor(operands.inputs[0]), Tensor(operands.output_gradient), kept(operands),
                   scale(operands), pairs_.data());
    for (std::size_t i = 0; 2 * i < pairs_.size(); ++i) {
      operands.statistics[i] = pairs_[2 * i + 1];
    }
  }

  void backward_data(const Operands& operands) override {
    pairs_.assign(static_cast<std::size_t>(2 * norm_.positions()), 0.0F);
    for (std::size_t i = 0; 2 * i < pairs_.size(); ++i) {
      pairs_[2 * i + 1] = operands.statistics[i];
    }
    norm_.gradient(Tensor(operands.inputs[0]), Tensor(operands.output_gradient), kept(operands),
                   scale(operands), pairs_.data(), Tensor(operands.input_gradients[0]));
  }

  void backward_weights(const Operands& operands) override {
    norm_.parameter_gradients(Tensor(operands.inputs[0]), Tensor(operands.output_gradient),
                              kept(operands), operands.adds_parameter_gradients,
                              operands.parameter_gradients, nullptr);
  }

  void update(const Operands& operands) override { update_parameters(operands, norm_.channels()); }

  PlaceNorms kept(const Operands& operands) {
    return {norm_.zeros(), static_cast<const float*>(operands.saved)};
  }
  std::span<const float> scale(const Operands& operands) const {
    return {operands.parameters, static_cast<std::size_t>(norm_.channels())};
  }

  PositionNorm norm_;
  double epsilon_;
  std::vector<float> forgotten_;  ///< inverses, where no backward pass will ask
  std::vector<float> pairs_;      ///< of a phase, as the loops have sums
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const RmsNorm& op) {
  if (op.head_size > 0) return make_head_norm(spec, op);
  return std::make_unique<RmsNormKernel>(spec, op);
}

}  // namespace strata::cpu
