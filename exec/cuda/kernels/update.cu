// The update of parameters, with the rate and the number of the step that the stream is in.

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"
#include "exec/runtime/optimizer_step.h"

namespace strata::cuda {
namespace {

template <Optimizer optimizer>
struct UpdateLoop {
  const StepState* step;
  OptimizerConstants constants;
  std::int64_t count;
  float *parameters, *state;
  const float* gradients;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    constexpr std::int64_t kWords = state_words(optimizer);
    const OptimizerStep<float> rule(step->learning_rate, constants, step->adam);
    float none = 0;
    float& first = kWords > 0 ? state[i] : none;
    float& second = kWords > 1 ? state[count + i] : none;
    parameters[i] = rule.updated<optimizer>(parameters[i], gradients[i], first, second);
  }
};

}  // namespace

void update_parameters(const Operands& operands, std::int64_t count, Seat& seat) {
  with_optimizer(operands.step->optimizer, [&]<Optimizer optimizer>() {
    each(seat.stream(), count,
         UpdateLoop<optimizer>{seat.step(), operands.step->constants, count, operands.parameters,
                               operands.optimizer_state, operands.parameter_gradients});
  });
}

}  // namespace strata::cuda
