// A trace of PyTorch's profiler beside a prediction, layer by layer.

#include "sim/study/validate/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "tests/sim/importers/kineto_trace.h"

namespace strata {
namespace {

using ::testing::SizeIs;

Case lenet() {
  CaseRequest request;
  request.model = "lenet5";
  request.cluster = "p100-1x2";
  return load_case(request);
}

// Two kernels of conv1's gradient, of 100 and 50 us, on the second GPU; a third one of no layer.
TEST(KernelTimes, StandBesideWhatIsPredictedOfTheSameDevice) {
  testing::KinetoTrace kineto;
  kineto.range("user_annotation", "ProfilerStep#7", 0, 1350);
  kineto.range("user_annotation", "conv1", 10, 20);
  kineto.range("cpu_op", "aten::conv2d", 11, 15, 4);
  kineto.range("cpu_op", "ConvolutionBackward0", 60, 30, 4, 2);
  kineto.kernel("dgrad", 65, 1000, 100, 2, 1);
  kineto.kernel("wgrad", 70, 1100, 50, 2, 1);
  kineto.kernel("other", 95, 1200, 50, 1, 1);
  const Case input = lenet();
  const Prediction p = predict(input, load_strategy("data", input));
  const TraceComparison compared = compare_kernels(parse_trace(kineto.text(), "t.json"), input, p);
  ASSERT_THAT(compared.passes, SizeIs(1));
  const ComparedPass& pass = compared.passes[0];
  EXPECT_EQ(pass.what, (LayerPass{DeviceId(1), input.graph.find("conv1"), KernelPass::backward}));
  EXPECT_EQ(pass.kernels, 2U);
  EXPECT_NEAR(pass.traced.value, 150e-6, 1e-12);
  EXPECT_NEAR(compared.traced_step.value, 350e-6, 1e-12) << "from 1000 to 1350 us";
  EXPECT_NEAR(compared.busy.value, 200e-6, 1e-12);
  EXPECT_EQ(compared.steps, 1U);
  EXPECT_NEAR(compared.known_share, 0.75, 1e-9);
  // Nothing reads a gradient of the network's input: the backward pass is that of the weights.
  Seconds predicted;
  const std::size_t step = last_steady_step(p.timeline);
  for (std::size_t i = 0; i < p.plan.size(); ++i) {
    const Task& task = p.plan[TaskId(i)];
    if (task.layer != pass.what.layer || task.device != DeviceId(1)) continue;
    if (task.kind != TaskKind::compute || task.phase != Phase::backward_weights) continue;
    predicted += p.timeline.span(step, TaskId(i)).duration();
  }
  EXPECT_GT(predicted.value, 0);
  EXPECT_NEAR(pass.predicted.value, predicted.value, 1e-12);
}

TEST(KernelTimes, ATraceThatNamesNoStepsHasNoStepsTime) {
  testing::KinetoTrace kineto;
  for (int i = 0; i < 3; ++i) {
    kineto.range("user_annotation", "conv1", 100 * i, 20);
    kineto.kernel("implicit_gemm", 100 * i + 5, 1000 + 100 * i, 50);
  }
  const Case input = lenet();
  const Prediction p = predict(input, load_strategy("data", input));
  const TraceComparison compared = compare_kernels(parse_trace(kineto.text(), "t.json"), input, p);
  EXPECT_EQ(compared.steps, 0U);
  EXPECT_EQ(compared.traced_step, Seconds{});
  EXPECT_NEAR(compared.busy.value, 150e-6, 1e-12);
  ASSERT_THAT(compared.passes, SizeIs(1));
  EXPECT_EQ(compared.passes[0].kernels, 3U) << "of all of the trace";
}

}  // namespace
}  // namespace strata
