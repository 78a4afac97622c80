// Plain descent, by the rate of the step that the stream is in.

#include <gtest/gtest.h>

#include "exec/cuda/kernels/kernels.h"
#include "tests/exec/cuda/gpu_array.h"

namespace strata::cuda {
namespace {

TEST(Sgd, EachStepHasItsRate) {
  Seat seat(0, Precision::fp32);
  const GpuArray<float> parameters(seat.stream(), {1, 2, 3}), gradients(seat.stream(), {8, 16, 9});
  Operands operands;
  operands.parameters = parameters.data();
  operands.parameter_gradients = gradients.data();
  for (float rate : {0.5F, 0.25F}) {
    seat.begin_step({0, rate, {}});
    sgd(operands, 2, seat);
  }
  EXPECT_EQ(parameters.get(), (std::vector<float>{1 - 4 - 2, 2 - 8 - 4, 3}));
}

}  // namespace
}  // namespace strata::cuda
