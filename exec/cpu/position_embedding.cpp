// y = x + p, where p has a row of all positions for each channel; a shard has its channels' rows.

#include <algorithm>

#include "exec/cpu/kernels.h"
#include "exec/cpu/tensor.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

class PositionEmbeddingKernel : public PhasedKernel {
 public:
  explicit PositionEmbeddingKernel(const ShardSpec& spec)
      : count_(shard_parameters(*spec, spec.output).weight),
        channels_(spec.output[Dim::c].size()),
        positions_(count_ / channels_),
        first_(spec.output[Dim::w].begin) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    std::copy_n(x.data(), x.padded_size(), y.data());
    each_lane(y, [&](std::int64_t at, float* lane) { *lane += operands.parameters[at]; });
  }

  void backward_data(const Operands& operands) override {
    const Tensor dy(operands.output_gradient), dx(operands.input_gradients[0]);
    std::copy_n(dy.data(), dy.padded_size(), dx.data());
  }

  void backward_weights(const Operands& operands) override {
    float* const gradients = operands.parameter_gradients;
    if (!operands.adds_parameter_gradients) std::fill_n(gradients, count_, 0.0F);
    each_lane(Tensor(operands.output_gradient),
              [&](std::int64_t at, const float* lane) { gradients[at] += *lane; });
  }

  void update(const Operands& operands) override { update_parameters(operands, count_); }

  /// visit(place in the weight, element).
  template <class Visit>
  void each_lane(const Tensor& y, const Visit& visit) const {
    for (std::int64_t n = 0; n < y.extents()[Dim::n]; ++n) {
      for (std::int64_t c = 0; c < channels_; ++c) {
        float* lane = y.block_at(n, c / y.block()) + c % y.block();
        const std::int64_t at = c * positions_ + first_;
        for (std::int64_t w = 0; w < y.plane(); ++w, lane += y.block()) visit(at + w, lane);
      }
    }
  }

  std::int64_t count_, channels_, positions_;
  std::int64_t first_;  ///< position of the shard
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const PositionEmbedding&) {
  return std::make_unique<PositionEmbeddingKernel>(spec);
}

}  // namespace strata::cpu
