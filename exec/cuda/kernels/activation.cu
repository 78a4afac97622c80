// y = f(x), dx = dy f'(x), by the definitions of each function. The gradient follows from y where
// that tells f'(x), so that y may overwrite x, else from x.

#include "exec/cuda/kernels/activation_functions.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"

namespace strata::cuda {
namespace {

using Kind = ActivationKind;

template <class Use>
void with_function(const Activation& op, const Use& use) {
  switch (op.kind) {
    case Kind::relu:
      return use(Relu());
    case Kind::relu6:
      return use(Relu6());
    case Kind::leaky_relu:
      return use(LeakyRelu());
    case Kind::elu:
      return op.gradient_from_output() ? use(Elu()) : use(EluOfInput());
    case Kind::sigmoid:
      return use(Sigmoid());
    case Kind::tanh:
      return use(Tanh());
    case Kind::silu:
      return use(Silu());
    case Kind::gelu:
      return use(Gelu());
    case Kind::hard_swish:
      return use(HardSwish());
    case Kind::hard_sigmoid:
      return use(HardSigmoid());
    case Kind::squared_relu:
      return use(SquaredRelu());
    case Kind::softcap:
      return use(Softcap());
    case Kind::scale:
      return use(ScaleByConstant());
  }
}

template <class F>
struct ActivationValue {
  float slope;
  STRATA_ANYWHERE float operator()(const float (&x)[1]) const { return F::value(x[0], slope); }
};

template <class F>
struct ActivationGradient {
  float slope;
  STRATA_ANYWHERE float operator()(const float (&dy_kept)[2]) const {
    return F::gradient(dy_kept[0], dy_kept[1], slope);
  }
};

template <class T>
class ActivationKernel : public PhasedKernel {
 public:
  ActivationKernel(Seat& seat, const ShardSpec& spec, const Activation& op)
      : stream_(seat.stream()), op_(op), count_(volume(spec.output)) {}

 private:
  void forward(const Operands& operands) override {
    const auto* x = static_cast<const T*>(operands.inputs[0].data);
    auto* y = static_cast<T*>(operands.output.data);
    with_function(op_, [&]<class F>(F) {
      elementwise(stream_, y, {x}, count_, ActivationValue<F>{static_cast<float>(op_.slope)});
    });
  }

  void backward_data(const Operands& operands) override {
    const auto* dy = static_cast<const T*>(operands.output_gradient.data);
    const Region& read = op_.kind == Kind::scale ? operands.output_gradient  // and nothing else
                         : op_.gradient_from_output() ? operands.output
                                                      : operands.inputs[0];
    const auto* kept = static_cast<const T*>(read.data);
    auto* dx = static_cast<T*>(operands.input_gradients[0].data);
    with_function(op_, [&]<class F>(F) {
      elementwise(stream_, dx, {dy, kept}, count_,
                  ActivationGradient<F>{static_cast<float>(op_.slope)});
    });
  }

  Stream& stream_;
  Activation op_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Activation& op) {
  return make_of_type<ActivationKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
