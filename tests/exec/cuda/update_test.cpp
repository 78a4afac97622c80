// The optimizers, by the rate and the number of the step that the stream is in.

#include <cstdint>
#include <vector>

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
    const StepContext context{
        step, step == 0 ? 0.5F : 0.25F, {}, optimizer, traits(optimizer).usual};
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

void expect_optimizer_steps(Optimizer optimizer) {
  const OptimizerConstants& constants = traits(optimizer).usual;
  Seat seat(0, Precision::fp32);
  const GpuArray<float> parameters(seat.stream(), {1, 2, 3}), state(seat.stream(), {0, 0, 0, 0, 0});
  std::vector<float> expected = {1, 2, 3}, first(2), second(2);
  for (std::uint64_t step : {0, 1, 2}) {
    const auto number = static_cast<float>(step);
    const GpuArray<float> gradients(seat.stream(), {1 - number, 0.5F * number - 0.3F, 9});
    Operands operands;
    operands.parameters = parameters.data();
    operands.parameter_gradients = gradients.data();
    operands.optimizer_state = state.data();
    const StepContext context{step, 0.5F, {}, optimizer, constants};
    operands.step = &context;
    seat.begin_step(context);
    update_parameters(operands, 2, seat);
    const OptimizerStep<float> rule(0.5F, constants, adam_correction(step, constants));
    with_optimizer(optimizer, [&]<Optimizer constant>() {
      for (std::size_t i = 0; i < 2; ++i) {
        expected[i] = rule.updated<constant>(expected[i], gradients.get()[i], first[i], second[i]);
      }
    });
  }
  const std::vector<float> after = parameters.get(), kept = state.get();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(after[i], expected[i], 1e-6) << i;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(kept[i], first[i], 1e-6) << i;
    EXPECT_NEAR(kept[2 + i], second[i], 1e-6) << i;
  }
  EXPECT_EQ(kept[4], 0);
}

TEST(Update, OfOthersIsOptimizerStepsAndKeepsTheirMeansApart) {
  for (const Optimizer optimizer : {Optimizer::adam, Optimizer::adamw, Optimizer::lion}) {
    SCOPED_TRACE(name(optimizer));
    expect_optimizer_steps(optimizer);
  }
}

}  // namespace
}  // namespace strata::cuda
