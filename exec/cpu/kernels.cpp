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
  const StepContext& at = *operands.step;
  const OptimizerStep<float> step(at.learning_rate, at.constants,
                                  adam_correction(at.step, at.constants));
  with_optimizer(at.optimizer, [&]<Optimizer optimizer>() {
    constexpr std::int64_t kWords = state_words(optimizer);
    float none = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      float& first = kWords > 0 ? operands.optimizer_state[i] : none;
      float& second = kWords > 1 ? operands.optimizer_state[count + i] : none;
      operands.parameters[i] = step.updated<optimizer>(
          operands.parameters[i], operands.parameter_gradients[i], first, second);
    }
  });
}

}  // namespace strata::cpu
