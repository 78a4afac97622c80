// y = f(g) x, dg = f'(g) x dy, dx = f(g) dy.

#include "exec/cuda/kernels/activation_functions.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"

namespace strata::cuda {
namespace {

/// f(g) times another.
template <class F>
struct GateValue {
  STRATA_ANYWHERE float operator()(const float (&g_other)[2]) const {
    return F::value(g_other[0], 0) * g_other[1];
  }
};

template <class F>
struct GateGradient {
  STRATA_ANYWHERE float operator()(const float (&g_x_dy)[3]) const {
    return F::gradient(g_x_dy[1] * g_x_dy[2], g_x_dy[0], 0);
  }
};

template <class T>
class GateKernel : public PhasedKernel {
 public:
  GateKernel(Seat& seat, const ShardSpec& spec, const GatedActivation& op)
      : stream_(seat.stream()), kind_(op.kind), count_(volume(spec.output)) {}

 private:
  static T* values(const Region& region) { return static_cast<T*>(region.data); }
  template <class Use>
  void with_function(const Use& use) const {
    kind_ == GateKind::silu ? use(Silu()) : use(Gelu());
  }

  void forward(const Operands& operands) override {
    const T *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    with_function([&]<class F>(F) {
      elementwise(stream_, values(operands.output), {gate, x}, count_, GateValue<F>{});
    });
  }

  void backward_data(const Operands& operands) override {
    const T *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    const T* const dy = values(operands.output_gradient);
    T *const to_gate = values(operands.input_gradients[0]), *const to_x =
                                                                values(operands.input_gradients[1]);
    with_function([&]<class F>(F) {
      if (to_x != nullptr) elementwise(stream_, to_x, {gate, dy}, count_, GateValue<F>{});
      if (to_gate != nullptr) {
        elementwise(stream_, to_gate, {gate, x, dy}, count_, GateGradient<F>{});
      }
    });
  }

  Stream& stream_;
  GateKind kind_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const GatedActivation& op) {
  return make_of_type<GateKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
