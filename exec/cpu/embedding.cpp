// A shard of an embedding has the vectors of some numbers, of each the channels of its box; other
// numbers are zeros here.

#include <algorithm>
#include <cmath>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/tensor.h"

namespace strata::cpu {
namespace {

class EmbeddingKernel : public PhasedKernel {
 public:
  EmbeddingKernel(const ShardSpec& spec, const Embedding& op)
      : numbers_(intersect(spec.output.terms, {0, (*spec).reduction})),
        features_(spec.output[Dim::c].size()),
        scale_(static_cast<float>(op.scale)) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    fill_zero(y);
    each_vector(x, y, [&](std::int64_t at, std::int64_t count, float* block) {
      for (std::int64_t k = 0; k < count; ++k) block[k] = operands.parameters[at + k] * scale_;
    });
  }

  void backward_data(const Operands& operands) override {
    if (!operands.adds_input_gradients) fill_zero(Tensor(operands.input_gradients[0]));
  }

  void backward_weights(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    float* const gradients = operands.parameter_gradients;
    if (!operands.adds_parameter_gradients) {
      std::fill_n(gradients, numbers_.size() * features_, 0.0F);
    }
    each_vector(x, dy, [&](std::int64_t at, std::int64_t count, const float* block) {
      for (std::int64_t k = 0; k < count; ++k) gradients[at + k] += block[k] * scale_;
    });
  }

  void update(const Operands& operands) override {
    update_parameters(operands, numbers_.size() * features_);
  }

  /// visit(place in the weight, how many, their lanes) for each block of each token's vector.
  template <class Visit>
  void each_vector(const Tensor& x, const Tensor& y, const Visit& visit) const {
    for (std::int64_t n = 0; n < y.extents()[Dim::n]; ++n) {
      for (std::int64_t w = 0; w < y.plane(); ++w) {
        const std::int64_t number = std::llround(x.at(n, 0, 0, 0, w));
        if (number < numbers_.begin || number >= numbers_.end) continue;
        const std::int64_t first = (number - numbers_.begin) * features_;
        for (std::int64_t c = 0; c < features_; c += y.block()) {
          visit(first + c, std::min(y.block(), features_ - c),
                y.block_at(n, c / y.block()) + w * y.block());
        }
      }
    }
  }

  Interval numbers_;
  std::int64_t features_;
  float scale_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Embedding& op) {
  return std::make_unique<EmbeddingKernel>(spec, op);
}

}  // namespace strata::cpu
