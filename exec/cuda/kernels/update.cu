// The update of parameters, with the rate and the number of the step that the stream is in.

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"
#include "exec/runtime/optimizer_step.h"

namespace strata::cuda {
namespace {

/// Of plain SGD, which reads two arrays as other passes do.
struct Descend {
  const StepState* step;
  OptimizerStep<float> rule;

  STRATA_ANYWHERE float operator()(const float (&values)[2]) const {
    float none = 0;
    return rule.at(step->learning_rate, {})
        .template updated<Optimizer::sgd>(values[0], values[1], none, none);
  }
};

template <Optimizer optimizer>
struct UpdateLoop {
  const StepState* step;
  OptimizerStep<float> rule;
  std::int64_t count;
  float *parameters, *state;
  const float* gradients;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    float none = 0;
    float& second = state_words(optimizer) > 1 ? state[count + i] : none;
    parameters[i] = rule.at(step->learning_rate, step->adam)
                        .template updated<optimizer>(parameters[i], gradients[i], state[i], second);
  }
};

}  // namespace

void update_parameters(const Operands& operands, std::int64_t count, Seat& seat) {
  const OptimizerStep<float> rule(0, operands.step->constants);
  with_optimizer(operands.step->optimizer, [&]<Optimizer optimizer>() {
    if constexpr (state_words(optimizer) == 0) {
      elementwise<float, 2>(seat.stream(), operands.parameters,
                            {operands.parameters, operands.parameter_gradients}, count,
                            Descend{seat.step(), rule});
    } else {
      each(seat.stream(), count,
           UpdateLoop<optimizer>{seat.step(), rule, count, operands.parameters,
                                 operands.optimizer_state, operands.parameter_gradients});
    }
  });
}

}  // namespace strata::cuda
