#include <cmath>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

using Kind = ActivationKind;

class ActivationKernel : public PhasedKernel {
 public:
  ActivationKernel(const ShardSpec& spec, const Activation& op)
      : op_(op),
        loops_(loops().activations[static_cast<std::size_t>(op.kind)]),
        size_(padded_size(extents(spec.output))) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor input(operands.inputs[0]), output(operands.output);
    loops_.forward(output.data(), input.data(), size_, static_cast<float>(op_.slope));
    const bool lifts = op_.kind == Kind::sigmoid || op_.kind == Kind::hard_sigmoid;  // f(0) = 1/2
    if (lifts) zero_unused(output);
  }

  void backward_data(const Operands& operands) override {
    const Tensor to(operands.input_gradients[0]), from(operands.output_gradient);
    if (op_.kind == Kind::scale) {  // of the gradient alone
      loops_.backward(to.data(), from.data(), from.data(), size_, static_cast<float>(op_.slope));
      return;
    }
    const bool from_output = op_.gradient_from_output();
    const float* kept = Tensor(from_output ? operands.output : operands.inputs[0]).data();
    if (op_.kind == Kind::elu && !from_output) return elu_gradient(to.data(), from.data(), kept);
    loops_.backward(to.data(), from.data(), kept, size_, static_cast<float>(op_.slope));
  }

  // The loops have it from the output.
  void elu_gradient(float* to, const float* from, const float* input) const {
    const auto slope = static_cast<float>(op_.slope);
    for (std::int64_t i = 0; i < size_; ++i) {
      const float x = input[i];
      to[i] = x > 0 ? from[i] : from[i] * slope * std::exp(x);
    }
  }

  Activation op_;
  const ActivationLoops& loops_;
  std::int64_t size_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Activation& op) {
  return std::make_unique<ActivationKernel>(spec, op);
}

}  // namespace strata::cpu
