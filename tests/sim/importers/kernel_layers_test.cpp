// Which layers the kernels of a trace of PyTorch's profiler are of.

#include "sim/importers/trace/kernel_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/graph/zoo.h"
#include "tests/sim/importers/kineto_trace.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::KinetoTrace;

constexpr int kAutograd = KinetoTrace::kAutograd;

// "conv1 forward, step 0", in the order of the kernels' begin.
std::vector<std::string> told(const KinetoTrace& kineto, const char* network = "lenet5") {
  const Graph graph = build_zoo(network, 1);
  const Trace trace = parse_trace(kineto.text(), "t.json");
  std::vector<std::string> told;
  for (const LayerKernel& kernel : match_kernels(trace, graph).kernels) {
    const char* const pass = kernel.pass == KernelPass::forward    ? "forward"
                             : kernel.pass == KernelPass::backward ? "backward"
                             : kernel.pass == KernelPass::update   ? "update"
                                                                   : "recomputation";
    told.push_back(
        fmt::format("{} {}", kernel.layer.valid() ? graph[kernel.layer].name : "?", pass));
  }
  return told;
}

TEST(KernelLayers, BelongToTheRangeThatLaunchedThem) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "conv1", 10, 20);
  kineto.range("cpu_op", "aten::conv2d", 11, 18, 5);
  kineto.range("cpu_op", "aten::cudnn_convolution", 12, 10, 5);
  kineto.kernel("implicit_gemm", 15, 1000, 50);  // runs long after it was launched
  kineto.range("user_annotation", "fc1", 40, 10);
  kineto.kernel("sgemm", 45, 1100, 50);
  kineto.kernel("lonely", 60, 1200, 50);
  EXPECT_THAT(told(kineto), ElementsAre("conv1 forward", "fc1 forward", "? forward"));
}

TEST(KernelLayers, DotsOfModulesAreBarsOfLayers) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "features.3", 10, 20);
  kineto.kernel("implicit_gemm", 15, 1000, 50);
  EXPECT_THAT(told(kineto, "alexnet"), ElementsAre("features_3 forward"));
}

// The gradient's op has the number of the forward op that made its node: of several with one
// number, the last.
TEST(KernelLayers, AutogradsBelongToTheForwardOpOfTheSameNumber) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "conv1", 10, 10);
  kineto.range("cpu_op", "aten::view", 11, 2, 7);
  kineto.range("cpu_op", "aten::conv2d", 14, 5, 6);
  kineto.range("user_annotation", "conv2", 30, 10);
  kineto.range("cpu_op", "aten::conv2d", 31, 5, 7);
  kineto.range("cpu_op", "autograd::engine::evaluate_function: ConvolutionBackward0", 100, 20, 7,
               kAutograd);
  kineto.range("cpu_op", "ConvolutionBackward0", 101, 18, 7, kAutograd);
  kineto.range("cpu_op", "aten::convolution_backward", 102, 15, -1, kAutograd);
  kineto.kernel("dgrad", 105, 1000, 50, kAutograd);
  kineto.kernel("wgrad", 110, 1060, 50, kAutograd);
  kineto.range("cpu_op", "autograd::engine::evaluate_function: ConvolutionBackward0", 130, 20, 6,
               kAutograd);
  kineto.kernel("wgrad", 135, 1200, 50, kAutograd);
  EXPECT_THAT(told(kineto), ElementsAre("conv2 backward", "conv2 backward", "conv1 backward"));
}

// A checkpoint's backward runs its part of the network anew on autograd's thread, whose numbers
// begin at 0 as those of the main thread do, then that part's backward.
TEST(KernelLayers, WhatACheckpointRunsAnewIsNoForwardPass) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "conv1", 10, 10);
  kineto.range("cpu_op", "aten::conv2d", 11, 5, 0);
  kineto.kernel("conv1", 12, 500, 50);
  kineto.range("user_annotation", "conv2", 30, 10);  // in the checkpoint, without a node
  kineto.range("cpu_op", "aten::conv2d", 31, 5, 1);
  kineto.kernel("conv2", 32, 600, 50);
  kineto.backward("autograd::engine::evaluate_function: CheckpointFunctionBackward", 100, 100, 1,
                  1);
  kineto.backward("CheckpointFunctionBackward", 101, 98, 1, 1);
  kineto.kernel("restore", 103, 990, 5, kAutograd);
  kineto.range("user_annotation", "conv2", 105, 10, -1, kAutograd);
  kineto.range("cpu_op", "aten::conv2d", 106, 5, 0, kAutograd);
  kineto.kernel("anew", 107, 1000, 50, kAutograd);
  kineto.backward("ConvolutionBackward0", 120, 10, 0, 2);
  kineto.kernel("dgrad", 122, 1100, 50, kAutograd);
  kineto.backward("ConvolutionBackward0", 220, 10, 0, 1);
  kineto.kernel("wgrad", 222, 1200, 50, kAutograd);
  EXPECT_THAT(told(kineto), ElementsAre("conv1 forward", "conv2 forward", "? forward",
                                        "conv2 recomputation", "conv2 backward", "conv1 backward"));
}

// Without a node of its own, a checkpoint runs anew within the first gradient that asks for what it
// kept, whose number is that of the first forward pass.
TEST(KernelLayers, WhatAGradientAsksForIsRunAnew) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "conv1", 10, 10);
  kineto.range("cpu_op", "aten::conv2d", 11, 5, 0);
  kineto.range("user_annotation", "conv2", 30, 10);
  kineto.range("cpu_op", "aten::conv2d", 31, 5, 1);
  kineto.backward("ConvolutionBackward0", 100, 100, 1, 1);
  kineto.range("user_annotation", "conv1", 105, 10, -1, kAutograd);
  kineto.range("cpu_op", "aten::conv2d", 106, 5, 0, kAutograd);
  kineto.kernel("conv1", 107, 1000, 50, kAutograd);
  kineto.range("user_annotation", "conv2", 115, 10, -1, kAutograd);
  kineto.range("cpu_op", "aten::conv2d", 116, 5, 1, kAutograd);
  kineto.kernel("conv2", 117, 1100, 50, kAutograd);
  kineto.kernel("dgrad", 150, 1200, 50, kAutograd);
  kineto.backward("ConvolutionBackward0", 220, 10, 0, 1);
  kineto.kernel("dgrad", 222, 1300, 50, kAutograd);
  EXPECT_THAT(told(kineto), ElementsAre("conv1 recomputation", "conv2 recomputation",
                                        "conv2 backward", "conv1 backward"));
}

// lenet5 has two convolutions and three fully-connected layers.
TEST(KernelLayers, ModulesAreCountedWhereThereAreAsMany) {
  KinetoTrace kineto;
  kineto.range("python_function", "nn.Module: LeNet_0", 5, 900);
  kineto.range("python_function", "nn.Module: Conv2d_1", 10, 10);
  kineto.kernel("second", 15, 1000, 50);
  kineto.range("python_function", "nn.Module: Conv2d_0", 30, 10);
  kineto.kernel("first", 35, 1100, 50);
  kineto.range("python_function", "nn.Module: Linear_0", 50, 10);  // one of three: which?
  kineto.kernel("sgemm", 55, 1200, 50);
  EXPECT_THAT(told(kineto), ElementsAre("conv2 forward", "conv1 forward", "? forward"));
}

TEST(KernelLayers, TheOptimisersAreItsUpdate) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "Optimizer.step#SGD.step", 10, 10);
  kineto.range("cpu_op", "aten::_foreach_add_", 11, 5);
  kineto.kernel("multi_tensor_apply", 13, 1000, 50);
  EXPECT_THAT(told(kineto), ElementsAre("? update"));
  const Graph graph = build_zoo("lenet5", 1);
  const Trace trace = parse_trace(kineto.text(), "t.json");
  EXPECT_EQ(match_kernels(trace, graph).known_share(trace), 1);
}

TEST(KernelLayers, StepsAreOfTheKernelsThatTheyLaunched) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "ProfilerStep#1", 0, 100);
  kineto.kernel("a", 10, 200, 50);
  kineto.kernel("b", 20, 260, 40);
  kineto.range("user_annotation", "ProfilerStep#2", 100, 10);  // without kernels
  kineto.range("user_annotation", "ProfilerStep#3", 110, 100);
  kineto.kernel("c", 120, 400, 30);
  kineto.kernel("late", 300, 500, 10);
  const Graph graph = build_zoo("lenet5", 1);
  const Trace trace = parse_trace(kineto.text(), "t.json");
  const KernelLayers found = match_kernels(trace, graph);
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_NEAR(found.steps[0].begin.value, 200e-6, 1e-12);
  EXPECT_NEAR(found.steps[0].end.value, 300e-6, 1e-12);
  EXPECT_NEAR(found.steps[1].begin.value, 400e-6, 1e-12);
  std::vector<std::uint32_t> steps;
  for (const LayerKernel& kernel : found.kernels) steps.push_back(kernel.step);
  EXPECT_THAT(steps, ElementsAre(0, 0, 1, 2)) << "2: of none";
  EXPECT_TRUE(found.names_steps);
}

// A step lasts until the next one's kernels begin, with what the GPU waits in between; the last one
// until the host is done with it.
TEST(KernelLayers, AStepLastsUntilTheNext) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "ProfilerStep#1", 0, 500);
  kineto.kernel("a", 10, 20, 100);
  kineto.kernel("copy", 20, 70, 100, KinetoTrace::kMain, 0, 8, "gpu_memcpy");
  kineto.range("user_annotation", "ProfilerStep#2", 500, 500);
  kineto.kernel("a", 510, 520, 100);
  const Graph graph = build_zoo("lenet5", 1);
  const KernelLayers found = match_kernels(parse_trace(kineto.text(), "t.json"), graph);
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_NEAR((found.steps[0].end - found.steps[0].begin).value, 500e-6, 1e-12);
  EXPECT_NEAR(found.steps[0].busy.value, 150e-6, 1e-12) << "what overlaps counts once";
  EXPECT_NEAR((found.steps[1].end - found.steps[1].begin).value, 480e-6, 1e-12);
  EXPECT_NEAR(found.steps[1].busy.value, 100e-6, 1e-12);
}

// Two replicas count their ops from 5 on, each on its thread; autograd says of which it is.
TEST(KernelLayers, SequenceNumbersAreOfTheirThread) {
  KinetoTrace kineto;
  kineto.range("user_annotation", "conv1", 10, 20, -1, 11);
  kineto.range("cpu_op", "aten::conv2d", 11, 10, 5, 11);
  kineto.range("user_annotation", "conv2", 12, 20, -1, 12);
  kineto.range("cpu_op", "aten::conv2d", 13, 10, 5, 12);
  kineto.range("cpu_op", "aten::conv2d", 25, 5, 6, 12);
  kineto.backward("ConvolutionBackward0", 100, 20, 5, 1);
  kineto.kernel("first", 105, 1000, 50, kAutograd);
  kineto.backward("ConvolutionBackward0", 130, 20, 5, 2);
  kineto.kernel("second", 135, 1100, 50, kAutograd);
  kineto.backward("ConvolutionBackward0", 160, 20, 6, 2);
  kineto.kernel("third", 165, 1200, 50, kAutograd);
  EXPECT_THAT(told(kineto), ElementsAre("conv1 backward", "conv2 backward", "conv2 backward"));
}

TEST(KernelLayers, ACorrelationOfTwoProcessesTellsNothing) {
  const auto text = [](int process) {
    return fmt::format(
        R"([{{"ph":"X","cat":"user_annotation","name":"conv1","pid":1,"tid":1,"ts":1,"dur":9}},)"
        R"({{"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":1,"ts":2,"dur":1,)"
        R"("args":{{"correlation":4}}}},)"
        R"({{"ph":"X","cat":"cuda_runtime","name":"l","pid":{},"tid":1,"ts":5,"dur":1,)"
        R"("args":{{"correlation":4}}}},)"
        R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":8,"dur":1,)"
        R"("args":{{"correlation":4}}}}])",
        process);
  };
  const Graph graph = build_zoo("lenet5", 1);
  const auto layer = [&](int process) {
    return match_kernels(parse_trace(text(process), "t.json"), graph).kernels.at(0).layer;
  };
  EXPECT_TRUE(layer(1).valid());
  EXPECT_FALSE(layer(2).valid());
}

TEST(KernelLayers, AllIsOneStepWhereNoneIsNamed) {
  KinetoTrace kineto;
  kineto.kernel("a", 10, 200, 50, KinetoTrace::kMain, 1, 9);
  kineto.kernel("copy", 20, 300, 50, KinetoTrace::kMain, 1, 10, "gpu_memcpy");
  const Graph graph = build_zoo("lenet5", 1);
  const Trace trace = parse_trace(kineto.text(), "t.json");
  EXPECT_TRUE(has_kernels(trace));
  const KernelLayers found = match_kernels(trace, graph);
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_FALSE(found.names_steps);
  EXPECT_NEAR((found.steps[0].end - found.steps[0].begin).value, 150e-6, 1e-12);
  ASSERT_EQ(found.kernels.size(), 2U);
  EXPECT_EQ(found.kernels[1].device, 1U);
  EXPECT_EQ(found.kernels[1].stream, 10U);
  EXPECT_EQ(found.kernels[1].step, 0U);
}

TEST(KernelLayers, OtherTracesHaveNone) {
  const Trace trace =
      parse_trace(R"([{"ph":"X","pid":1,"tid":2,"ts":30,"dur":5,"name":"a"}])", "t");
  const std::atomic<bool> called_off = true;
  EXPECT_THROW(match_kernels(trace, build_zoo("lenet5", 1), &called_off), Cancelled);
  EXPECT_FALSE(has_kernels(trace));
  EXPECT_TRUE(match_kernels(trace, build_zoo("lenet5", 1)).kernels.empty());
}

// What no number is, or none that counts, ties nothing.
TEST(KernelLayers, TakeNoHarmFromStrangeArgs) {
  for (const char* const args :
       {R"({"correlation":1e300,"device":-5,"stream":1e12})", R"({"correlation":"one"})",
        R"({"correlation":tru,"device":7})", R"({"correlation":[1],"device":{}})", "{}"}) {
    const std::string event = fmt::format(
        R"([{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1,"dur":1,"args":{}}}])",
        args);
    const Trace trace = parse_trace(event, "t.json");
    const KernelLayers found = match_kernels(trace, build_zoo("lenet5", 1));
    ASSERT_EQ(found.kernels.size(), 1U) << args;
    EXPECT_FALSE(found.kernels[0].layer.valid()) << args;
  }
}

}  // namespace
}  // namespace strata
