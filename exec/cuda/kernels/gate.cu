// y = f(g) x, dg = f'(g) x dy, dx = f(g) dy; of the clamped gate, where x + 1 stands for x, g and x
// are no more than the limit, beyond which nothing flows back.

#include <cmath>

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

struct ClampedGate {
  float alpha, limit;

  STRATA_ANYWHERE float gate(float g) const { return g < limit ? g : limit; }
  STRATA_ANYWHERE float factor(float x) const {
    return (x < -limit ? -limit : x > limit ? limit : x) + 1;
  }
  STRATA_ANYWHERE float share(float g) const { return 1 / (1 + std::exp(-alpha * g)); }
};
struct ClampedValue {
  ClampedGate by;
  STRATA_ANYWHERE float operator()(const float (&g_x)[2]) const {
    const float g = by.gate(g_x[0]);
    return g * by.share(g) * by.factor(g_x[1]);
  }
};
struct ClampedGateGradient {
  ClampedGate by;
  STRATA_ANYWHERE float operator()(const float (&g_x_dy)[3]) const {
    const float g = by.gate(g_x_dy[0]), s = by.share(g);
    const float slope = s * (1 + by.alpha * g * (1 - s));
    return g_x_dy[0] <= by.limit ? g_x_dy[2] * by.factor(g_x_dy[1]) * slope : 0;
  }
};
struct ClampedFactorGradient {
  ClampedGate by;
  STRATA_ANYWHERE float operator()(const float (&g_x_dy)[3]) const {
    const float g = by.gate(g_x_dy[0]);
    return std::fabs(g_x_dy[1]) <= by.limit ? g_x_dy[2] * g * by.share(g) : 0;
  }
};

template <class T>
class GateKernel : public PhasedKernel {
 public:
  GateKernel(Seat& seat, const ShardSpec& spec, const GatedActivation& op)
      : stream_(seat.stream()),
        kind_(op.kind),
        clamped_{static_cast<float>(op.alpha), static_cast<float>(op.limit)},
        count_(volume(spec.output)) {}

 private:
  static T* values(const Region& region) { return static_cast<T*>(region.data); }
  template <class Use>
  void with_function(const Use& use) const {
    kind_ == GateKind::silu ? use(Silu()) : use(Gelu());
  }

  void forward(const Operands& operands) override {
    const T *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    if (kind_ == GateKind::clamped) {
      elementwise(stream_, values(operands.output), {gate, x}, count_, ClampedValue{clamped_});
      return;
    }
    with_function([&]<class F>(F) {
      elementwise(stream_, values(operands.output), {gate, x}, count_, GateValue<F>{});
    });
  }

  void backward_data(const Operands& operands) override {
    const T *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    const T* const dy = values(operands.output_gradient);
    T *const to_gate = values(operands.input_gradients[0]), *const to_x =
                                                                values(operands.input_gradients[1]);
    if (kind_ == GateKind::clamped) {
      if (to_x != nullptr) {
        elementwise(stream_, to_x, {gate, x, dy}, count_, ClampedFactorGradient{clamped_});
      }
      if (to_gate != nullptr) {
        elementwise(stream_, to_gate, {gate, x, dy}, count_, ClampedGateGradient{clamped_});
      }
      return;
    }
    with_function([&]<class F>(F) {
      if (to_x != nullptr) elementwise(stream_, to_x, {gate, dy}, count_, GateValue<F>{});
      if (to_gate != nullptr) {
        elementwise(stream_, to_gate, {gate, x, dy}, count_, GateGradient<F>{});
      }
    });
  }

  Stream& stream_;
  GateKind kind_;
  ClampedGate clamped_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const GatedActivation& op) {
  return make_of_type<GateKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
