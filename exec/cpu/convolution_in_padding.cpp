// A shard of a convolution whose windows all lie in the padding: it reads nothing of its input, and
// its output is the bias.

#include <algorithm>

#include "exec/cpu/kernels.h"
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

class InPadding : public PhasedKernel {
 public:
  explicit InPadding(const Parameters& sizes) : sizes_(sizes) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor y(operands.output);
    std::fill_n(y.data(), y.padded_size(), 0.0F);
    if (sizes_.bias == 0) return;
    for_each_plane(y, [&](std::int64_t c, float* at) {
      const float bias = operands.parameters[sizes_.weight + c];
      for (std::int64_t i = 0; i < y.plane(); ++i) at[i * y.block()] = bias;
    });
  }

  void backward_weights(const Operands& operands) override {
    const Tensor dy(operands.output_gradient);
    float* const gradients = operands.parameter_gradients;
    if (!operands.adds_parameter_gradients) std::fill_n(gradients, sizes_.total(), 0.0F);
    if (sizes_.bias == 0) return;
    for_each_plane(dy, [&](std::int64_t c, const float* at) {
      for (std::int64_t i = 0; i < dy.plane(); ++i) {
        gradients[sizes_.weight + c] += at[i * dy.block()];
      }
    });
  }

  void update(const Operands& operands) override { update_parameters(operands, sizes_.total()); }

  Parameters sizes_;
};

}  // namespace

std::unique_ptr<Kernel> make_convolution_in_padding(const ShardSpec& spec) {
  return std::make_unique<InPadding>(shard_parameters(*spec, spec.output));
}

}  // namespace strata::cpu
