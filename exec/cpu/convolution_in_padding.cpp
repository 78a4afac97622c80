#include "exec/cpu/convolution_in_padding.h"

#include <algorithm>

#include "exec/cpu/sgd.h"
#include "exec/cpu/tensor.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

/// f(n, channel, the channel's place 0) for all; places are a block apart.
template <class F>
void for_each_plane(const Tensor& tensor, F f) {
  for (std::int64_t n = 0; n < tensor.extents()[Dim::n]; ++n) {
    for (std::int64_t c = 0; c < tensor.extents()[Dim::c]; ++c) f(c, &tensor.at(n, c, 0, 0, 0));
  }
}

class InPadding : public Kernel {
 public:
  explicit InPadding(const Parameters& sizes) : sizes_(sizes) {}

  void run(Phase phase, const Operands& operands) override {
    if (phase == Phase::forward) forward(Tensor(operands.output), operands.parameters);
    if (phase == Phase::backward_weights) {
      backward(Tensor(operands.output_gradient), operands.parameter_gradients);
    }
    if (phase == Phase::update) {
      sgd(operands.parameters, operands.parameter_gradients, sizes_.total(),
          operands.step->learning_rate);
    }
  }

 private:
  void forward(const Tensor& y, const float* parameters) const {
    std::fill_n(y.data(), y.padded_size(), 0.0F);
    if (sizes_.bias == 0) return;
    for_each_plane(y, [&](std::int64_t c, float* at) {
      const float bias = parameters[sizes_.weight + c];
      for (std::int64_t i = 0; i < y.plane(); ++i) at[i * y.block()] = bias;
    });
  }

  void backward(const Tensor& dy, float* gradients) const {
    std::fill_n(gradients, sizes_.total(), 0.0F);
    if (sizes_.bias == 0) return;
    for_each_plane(dy, [&](std::int64_t c, const float* at) {
      for (std::int64_t i = 0; i < dy.plane(); ++i) {
        gradients[sizes_.weight + c] += at[i * dy.block()];
      }
    });
  }

  Parameters sizes_;
};

}  // namespace

std::unique_ptr<Kernel> make_convolution_in_padding(const ShardSpec& spec) {
  return std::make_unique<InPadding>(shard_parameters(*spec, spec.output));
}

}  // namespace strata::cpu
