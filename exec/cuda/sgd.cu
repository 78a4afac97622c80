// Stochastic gradient descent: p -= rate * dp, with the rate of the step that the stream is in.

#include "exec/cuda/kernels.h"

namespace strata::cuda {
namespace {

struct SgdLoop {
  float* parameters;
  const float* gradients;
  const StepState* step;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    parameters[i] -= step->learning_rate * gradients[i];
  }
};

}  // namespace

void sgd(float* parameters, const float* gradients, std::int64_t count, Seat& seat) {
  each(seat.stream(), count, SgdLoop{parameters, gradients, seat.step()});
}

}  // namespace strata::cuda
