#include <cmath>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

using Kind = ActivationKind;

/// Where the gradient follows from the output, the input may be overwritten.
bool from_output(Kind kind) {
  return kind != Kind::silu && kind != Kind::gelu && kind != Kind::hard_swish;
}

class ActivationKernel : public Kernel {
 public:
  ActivationKernel(const ShardSpec& spec, const Activation& op)
      : op_(op),
        loops_(loops().activations[static_cast<std::size_t>(op.kind)]),
        size_(padded_size(extents(spec.output))),
        folded_(op.slope < 0 && (op.kind == Kind::leaky_relu || op.kind == Kind::elu)) {
    if (folded_ && spec.training) input_.resize(static_cast<std::size_t>(size_));
  }

  void run(Phase phase, const Operands& operands) override {
    if (phase == Phase::forward) forward(operands);
    if (phase == Phase::backward_data && operands.input_gradients[0].data != nullptr) {
      backward(operands);
    }
  }

 private:
  void forward(const Operands& operands) {
    const Tensor input(operands.inputs[0]), output(operands.output);
    if (!input_.empty()) input_.assign(input.data(), input.data() + size_);
    loops_.forward(output.data(), input.data(), size_, static_cast<float>(op_.slope));
    const bool lifts = op_.kind == Kind::sigmoid || op_.kind == Kind::hard_sigmoid;  // f(0) = 1/2
    if (lifts) zero_unused(output);
  }

  void backward(const Operands& operands) {
    const Tensor to(operands.input_gradients[0]), from(operands.output_gradient);
    const Region& region = from_output(op_.kind) ? operands.output : operands.inputs[0];
    const float* kept = folded_ ? input_.data() : Tensor(region).data();
    if (folded_ && op_.kind == Kind::elu) return unfold_elu(to.data(), from.data());
    loops_.backward(to.data(), from.data(), kept, size_, static_cast<float>(op_.slope));
  }

  void unfold_elu(float* to, const float* from) const {
    const auto slope = static_cast<float>(op_.slope);
    for (std::int64_t i = 0; i < size_; ++i) {
      const float x = input_[static_cast<std::size_t>(i)];
      to[i] = x > 0 ? from[i] : from[i] * slope * std::exp(x);
    }
  }

  Activation op_;
  const ActivationLoops& loops_;
  std::int64_t size_;
  bool folded_;  ///< a negative slope: the output does not tell the input's sign
  std::vector<float> input_;
};

}  // namespace

std::unique_ptr<Kernel> make_activation(const ShardSpec& spec, const Activation& op) {
  return std::make_unique<ActivationKernel>(spec, op);
}

}  // namespace strata::cpu
