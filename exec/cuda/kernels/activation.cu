// y = f(x), dx = dy f'(x), by the definitions of each function. The gradient follows from y where
// that tells f'(x), so that y may overwrite x, else from x.

#include <cmath>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"

namespace strata::cuda {
namespace {

using Kind = ActivationKind;

struct Relu {
  STRATA_ANYWHERE static float value(float x, float) { return x < 0 ? 0 : x; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) { return y > 0 ? dy : 0; }
};
struct Relu6 {
  STRATA_ANYWHERE static float value(float x, float) { return x < 0 ? 0 : x > 6 ? 6 : x; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) {
    return y > 0 && y < 6 ? dy : 0;
  }
};
struct LeakyRelu {
  STRATA_ANYWHERE static float value(float x, float slope) { return x > 0 ? x : x * slope; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float slope) {
    return y > 0 ? dy : dy * slope;
  }
};
struct Elu {
  STRATA_ANYWHERE static float value(float x, float slope) {
    return x > 0 ? x : slope * std::expm1(x);
  }
  STRATA_ANYWHERE static float gradient(float dy, float y, float slope) {
    return y > 0 ? dy : dy * (y + slope);
  }
};
/// Where the gradient is given the input.
struct EluOfInput {
  STRATA_ANYWHERE static float value(float x, float slope) { return Elu::value(x, slope); }
  STRATA_ANYWHERE static float gradient(float dy, float x, float slope) {
    return x > 0 ? dy : dy * slope * std::exp(x);
  }
};
struct Sigmoid {
  STRATA_ANYWHERE static float value(float x, float) { return 1 / (1 + std::exp(-x)); }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) { return dy * y * (1 - y); }
};
struct Tanh {
  STRATA_ANYWHERE static float value(float x, float) { return std::tanh(x); }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) { return dy * (1 - y * y); }
};
struct Silu {
  STRATA_ANYWHERE static float value(float x, float) { return x * Sigmoid::value(x, 0); }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) {
    const float s = Sigmoid::value(x, 0);
    return dy * s * (1 + x * (1 - s));
  }
};
struct Gelu {
  STRATA_ANYWHERE static float normal_share(float x) {
    return 0.5F + 0.5F * std::erf(x * 0.707106781F);
  }
  STRATA_ANYWHERE static float value(float x, float) { return x * normal_share(x); }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) {
    return dy * (normal_share(x) + x * 0.398942280F * std::exp(-0.5F * x * x));
  }
};
struct HardSwish {
  STRATA_ANYWHERE static float value(float x, float) { return x * Relu6::value(x + 3, 0) / 6; }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) {
    return x < -3 ? 0 : x > 3 ? dy : dy * (x / 3 + 0.5F);
  }
};

struct HardSigmoid {
  STRATA_ANYWHERE static float value(float x, float) { return Relu6::value(x + 3, 0) / 6; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) {
    return y > 0 && y < 1 ? dy / 6 : 0;
  }
};

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
    const Region& read = op_.gradient_from_output() ? operands.output : operands.inputs[0];
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
