// y = f(g) x, dx = f(g) dy, dg = f'(g) x dy, a run at a time that stays in the first cache; of the
// clamped gate an element at a time.

#include <algorithm>
#include <cmath>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/tensor.h"

namespace strata::cpu {
namespace {

constexpr std::int64_t kRun = 2048;

class GateKernel : public PhasedKernel {
 public:
  GateKernel(const ShardSpec& spec, const GatedActivation& op)
      : loops_(loops().activations[static_cast<std::size_t>(
            op.kind == GateKind::silu ? ActivationKind::silu : ActivationKind::gelu)]),
        size_(padded_size(extents(spec.output))) {}

 private:
  void forward(const Operands& operands) override {
    const float *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    float* const y = values(operands.output);
    each_run([&](std::int64_t at, std::int64_t count) {
      loops_.forward(y + at, gate + at, count, 0);
      multiply(y + at, x + at, count);
    });
  }

  void backward_data(const Operands& operands) override {
    const float *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    const float* const dy = values(operands.output_gradient);
    float* const of_gate = values(operands.input_gradients[0]);
    float* const of_x = values(operands.input_gradients[1]);
    each_run([&](std::int64_t at, std::int64_t count) {
      if (of_x != nullptr) {
        loops_.forward(of_x + at, gate + at, count, 0);
        multiply(of_x + at, dy + at, count);
      }
      if (of_gate != nullptr) {
        std::copy_n(dy + at, count, of_gate + at);
        multiply(of_gate + at, x + at, count);
        loops_.backward(of_gate + at, of_gate + at, gate + at, count, 0);
      }
    });
  }

  static float* values(const Region& region) { return static_cast<float*>(region.data); }
  static void multiply(float* __restrict to, const float* by, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] *= by[i];
  }
  template <class Visit>
  void each_run(const Visit& visit) const {
    for (std::int64_t at = 0; at < size_; at += kRun) visit(at, std::min(kRun, size_ - at));
  }

  const ActivationLoops& loops_;
  std::int64_t size_;
};

/// y = g s (x + 1), where s = 1 / (1 + exp(-alpha g)), g and x clamped.
class ClampedGateKernel : public PhasedKernel {
 public:
  ClampedGateKernel(const ShardSpec& spec, const GatedActivation& op)
      : alpha_(static_cast<float>(op.alpha)),
        limit_(static_cast<float>(op.limit)),
        size_(padded_size(extents(spec.output))) {}

 private:
  void forward(const Operands& operands) override {
    const float *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    float* const y = values(operands.output);
    for (std::int64_t i = 0; i < size_; ++i) {
      const float g = clamped_gate(gate[i]);
      y[i] = g * share(g) * (clamped(x[i]) + 1);
    }
  }

  /// Nothing comes to what lies beyond the limit.
  void backward_data(const Operands& operands) override {
    const float *gate = values(operands.inputs[0]), *x = values(operands.inputs[1]);
    const float* const dy = values(operands.output_gradient);
    float* const of_gate = values(operands.input_gradients[0]);
    float* const of_x = values(operands.input_gradients[1]);
    for (std::int64_t i = 0; i < size_; ++i) {
      const float g = clamped_gate(gate[i]), s = share(g), factor = clamped(x[i]) + 1;
      const float slope = s * (1 + alpha_ * g * (1 - s));
      if (of_gate != nullptr) of_gate[i] = gate[i] <= limit_ ? dy[i] * factor * slope : 0;
      if (of_x != nullptr) of_x[i] = std::abs(x[i]) <= limit_ ? dy[i] * g * s : 0;
    }
  }

  static float* values(const Region& region) { return static_cast<float*>(region.data); }
  float share(float g) const { return 1 / (1 + std::exp(-alpha_ * g)); }
  float clamped_gate(float g) const { return std::min(g, limit_); }
  float clamped(float x) const { return std::clamp(x, -limit_, limit_); }

  float alpha_, limit_;
  std::int64_t size_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const GatedActivation& op) {
  if (op.kind == GateKind::clamped) return std::make_unique<ClampedGateKernel>(spec, op);
  return std::make_unique<GateKernel>(spec, op);
}

}  // namespace strata::cpu
