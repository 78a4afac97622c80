#include "exec/cpu/kernels.h"

#include <variant>

#include "exec/runtime/optimizer_step.h"
#include "sim/base/error.h"

namespace strata::cpu {
namespace {

std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const Input&) {
  throw InternalError("a network input runs no kernel");
}
std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const Opaque&) {
  throw InternalError("nothing computes an opaque op");
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec) {
  return std::visit([&](const auto& op) { return make_kernel(spec, op); }, (*spec).op);
}

void update_parameters(const Operands& operands, std::int64_t count) {
  const OptimizerStep<float> step(operands.step->learning_rate,
                                  adam_correction(operands.step->step));
  float* const parameters = operands.parameters;
  float* const first = operands.optimizer_state;
  const float* const gradients = operands.parameter_gradients;
  switch (operands.step->optimizer) {
    case Optimizer::sgd:
      for (std::int64_t i = 0; i < count; ++i)
        parameters[i] = step.sgd(parameters[i], gradients[i]);
      break;
    case Optimizer::momentum:
      for (std::int64_t i = 0; i < count; ++i) {
        parameters[i] = step.momentum(parameters[i], gradients[i], first[i]);
      }
      break;
    case Optimizer::adam:
      for (std::int64_t i = 0; i < count; ++i) {
        parameters[i] = step.adam(parameters[i], gradients[i], first[i], first[count + i]);
      }
      break;
  }
}

}  // namespace strata::cpu
