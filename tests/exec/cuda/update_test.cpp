// The optimizers, by the rate and the number of the step that the stream is in.

#include <cmath>

#include <gtest/gtest.h>

#include "exec/cuda/kernels/kernels.h"
#include "exec/runtime/optimizer_step.h"
#include "tests/exec/cuda/gpu_array.h"

namespace strata::cuda {
namespace {

/// Runs steps of 0.5, then 0.25; the third parameter is another's.
std::vector<float> after_two_steps(Optimizer optimizer) {
  Seat seat(0, Precision::fp32);
  const GpuArray<float> parameters(seat.stream(), {1, 2, 3}), gradients(seat.stream(), {8, 16, 9}),
      state(seat.stream(), {0, 0, 0, 0});
  Operands operands;
  operands.parameters = parameters.data();
  operands.parameter_gradients = gradients.data();
  operands.optimizer_state = state.data();
  for (std::uint64_t step : {0, 1}) {
    const StepContext context{step, step == 0 ? 0.5F : 0.25F, {}, optimizer};
    operands.step = &context;
    seat.begin_step(context);
    update_parameters(operands, 2, seat);
  }
  return parameters.get();
}

TEST(Update, OfPlainDescentHasTheRateOfEachStep) {
  EXPECT_EQ(after_two_steps(Optimizer::sgd), (std::vector<float>{1 - 4 - 2, 2 - 8 - 4, 3}));
}

TEST(Update, OfMomentumKeepsAVelocity) {
  // 8, then 0.9 * 8 + 8.
  EXPECT_EQ(after_two_steps(Optimizer::momentum),
            (std::vector<float>{1 - 4 - 15.2F / 4, 2 - 8 - 30.4F / 4, 3}));
}

// Of a gradient that stays, both means are exactly that, so every step goes by the rate.
TEST(Update, OfAdamGoesByTheRate) {
  const std::vector<float> after = after_two_steps(Optimizer::adam);
  EXPECT_NEAR(after[0], 1 - 0.75, 1e-5);
  EXPECT_NEAR(after[1], 2 - 0.75, 1e-5);
  EXPECT_EQ(after[2], 3);
}

}  // namespace
}  // namespace strata::cuda
