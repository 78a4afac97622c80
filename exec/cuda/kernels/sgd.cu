// Stochastic gradient descent: p -= rate * dp, with the rate of the step that the stream is in.

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"

namespace strata::cuda {
namespace {

struct Descend {
  const StepState* step;
  STRATA_ANYWHERE float operator()(const float (&values)[2]) const {
    return values[0] - step->learning_rate * values[1];
  }
};

}  // namespace

void sgd(const Operands& operands, std::int64_t count, Seat& seat) {
  elementwise<float, 2>(seat.stream(), operands.parameters,
                        {operands.parameters, operands.parameter_gradients}, count,
                        Descend{seat.step()});
}

}  // namespace strata::cuda
