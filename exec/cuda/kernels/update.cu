// The update of parameters, with the rate and the number of the step that the stream is in.

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"
#include "exec/runtime/optimizer_step.h"

namespace strata::cuda {
namespace {

struct Descend {
  const StepState* step;
  STRATA_ANYWHERE float operator()(const float (&values)[2]) const {
    return values[0] - step->learning_rate * values[1];
  }
};

template <Optimizer optimizer>
struct UpdateLoop {
  const StepState* step;
  std::int64_t count;
  float *parameters, *state;
  const float* gradients;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const OptimizerStep<float> rule(step->learning_rate, step->adam);
    float& parameter = parameters[i];
    if constexpr (optimizer == Optimizer::momentum) {
      parameter = rule.momentum(parameter, gradients[i], state[i]);
    } else {
      parameter = rule.adam(parameter, gradients[i], state[i], state[count + i]);
    }
  }
};

template <Optimizer optimizer>
void update_with_state(const Operands& operands, std::int64_t count, Seat& seat) {
  each(seat.stream(), count,
       UpdateLoop<optimizer>{seat.step(), count, operands.parameters, operands.optimizer_state,
                             operands.parameter_gradients});
}

}  // namespace

void update_parameters(const Operands& operands, std::int64_t count, Seat& seat) {
  switch (operands.step->optimizer) {
    case Optimizer::sgd:
      return elementwise<float, 2>(seat.stream(), operands.parameters,
                                   {operands.parameters, operands.parameter_gradients}, count,
                                   Descend{seat.step()});
    case Optimizer::momentum:
      return update_with_state<Optimizer::momentum>(operands, count, seat);
    case Optimizer::adam:
      return update_with_state<Optimizer::adam>(operands, count, seat);
  }
}

}  // namespace strata::cuda
