// Each op of ONNX that is read: the layers that come out of it, with their attributes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/importers/onnx/read_onnx.h"
#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Attributes;
using testing::Dims;
using ::testing::ElementsAre;
using testing::lines;
using testing::Model;
using testing::one_node;

template <class T>
T op_of(const Graph& graph, std::string_view layer) {
  return std::get<T>(graph[graph.find(layer)].op);
}

TEST(OnnxOps, AConvolutionHasItsWindowsGroupsAndBias) {
  Model net;
  net.weight("w", {4, 2, 3, 3});
  net.weight("b", {4});
  net.node("Conv", {"x", "w", "b"}, "y")("strides", Dims{2, 1})("pads", Dims{1, 0, 2, 0})(
      "dilations", Dims{1, 2})("group", 2);
  EXPECT_THAT(one_node(net, {2, 4, 8, 8}), ElementsAre("y conv2d 4x1x5x4 +76 < x"));
  const Convolution expected{2, 4, {{}, {3, 2, 1, 2, 1}, {3, 1, 0, 0, 2}}, 2, true};
  EXPECT_EQ(op_of<Convolution>(net.read().graph, "y"), expected);
}

TEST(OnnxOps, ConvolutionsHaveOneToThreeDims) {
  Model line;
  line.weight("w", {4, 3, 3});
  line.node("Conv", {"x", "w"}, "y");
  EXPECT_THAT(one_node(line, {1, 3, 8}), ElementsAre("y conv1d 4x1x1x6 +36 < x"));
  Model video;
  video.weight("w", {4, 3, 1, 2, 3});
  video.node("Conv", {"x", "w"}, "y");
  EXPECT_THAT(one_node(video, {1, 3, 4, 8, 8}), ElementsAre("y conv3d 4x4x7x6 +72 < x"));
}

// Of an extent of 8, kernel 3 and stride 2: 4 outputs, (4 - 1) 2 + 3 - 8 = 1 of padding.
TEST(OnnxOps, AutoPadGivesOutputsForEachStride) {
  const auto padding = [](const char* automatic) {
    Model net;
    net.weight("w", {4, 3, 3, 3});
    net.node("Conv", {"x", "w"}, "y")("strides", Dims{2, 2})("auto_pad", automatic);
    net.input("x", {1, 3, 8, 8}).output("y");
    const Window w = op_of<Convolution>(net.read().graph, "y").windows.w;
    return std::pair(w.pad_begin, w.pad_end);
  };
  EXPECT_EQ(padding("SAME_UPPER"), std::pair(0L, 1L));
  EXPECT_EQ(padding("SAME_LOWER"), std::pair(1L, 0L));
  EXPECT_EQ(padding("VALID"), std::pair(0L, 0L));
}

TEST(OnnxOps, GemmAndMatMulWithItsAddAreFullyConnected) {
  Model net;
  net.weight("a", {5, 6});
  net.weight("b", {5});
  net.weight("c", {5, 7});
  net.weight("d", {7});
  net.weight("e", {7, 3});
  net.node("Gemm", {"x", "a", "b"}, "one")("transB", 1);
  net.node("MatMul", {"one", "c"}, "product");
  net.node("Add", {"d", "product"}, "two");
  net.node("MatMul", {"two", "e"}, "y");
  EXPECT_THAT(one_node(net, {0, 6}),
              ElementsAre("one fc 5x1x1x1 +35 < x", "product fc 7x1x1x1 +42 < one",
                          "y fc 3x1x1x1 +21 < product", "loss softmax_cross_entropy 3x1x1x1 < y"));
}

TEST(OnnxOps, MaximumPoolingHasItsWindows) {
  Model net;
  net.node("MaxPool", {"x"}, "y")("kernel_shape", Dims{3, 3})("strides", Dims{2, 2})(
      "pads", Dims{1, 1, 1, 1})("ceil_mode", 1);
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y max_pool2d 3x1x5x5 < x"));
  const Window window{3, 2, 1, 1, 1};
  EXPECT_EQ(op_of<Pooling>(net.read().graph, "y"),
            (Pooling{2, PoolMode::max, {{}, window, window}, true, true}));
}

TEST(OnnxOps, AveragePoolingLeavesItsPaddingOutUnlessItSays) {
  const auto counted = [](int include) {
    Model net;
    net.node("AveragePool", {"x"}, "y")("kernel_shape", Dims{3, 3})("pads", Dims{1, 1, 1, 1})(
        "count_include_pad", include);
    net.input("x", {1, 3, 8, 8}).output("y");
    return op_of<Pooling>(net.read().graph, "y").count_include_pad;
  };
  EXPECT_FALSE(counted(0));
  EXPECT_TRUE(counted(1));
}

// An adaptive average of a size that is there already comes as this.
TEST(OnnxOps, PoolingOfOneElementIsNothing) {
  Model net;
  net.node("AveragePool", {"x"}, "same")("kernel_shape", Dims{1, 1})("strides", Dims{1, 1});
  net.node("Relu", {"same"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y relu 3x1x8x8 < x"));
}

TEST(OnnxOps, GlobalPoolingIsAdaptive) {
  Model net;
  net.node("GlobalAveragePool", {"x"}, "a");
  net.node("GlobalMaxPool", {"x"}, "b");
  net.node("ReduceMean", {"x"}, "c")("axes", Dims{-1, 2});
  net.node("Concat", {"a", "b", "c"}, "y")("axis", 1);
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}),
              ElementsAre("a adaptive_avg_pool2d 3x1x1x1 < x", "b adaptive_max_pool2d 3x1x1x1 < x",
                          "c adaptive_avg_pool2d 3x1x1x1 < x", "y concat 9x1x1x1 < a, b, c"));
}

TEST(OnnxOps, AMeanWithoutItsDimsIsFlatAlready) {
  Model net;
  net.node("ReduceMean", {"x"}, "y")("axes", Dims{2, 3})("keepdims", 0);
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y adaptive_avg_pool2d 3x1x1x1 < x",
                                                       "loss softmax_cross_entropy 3x1x1x1 < y"));
}

// The trap of training exports: five outputs, four without a shape.
TEST(OnnxOps, BatchNormalizationInTrainingFormHasFiveOutputs) {
  Model net(11);
  for (const char* name : {"scale", "shift", "mean", "variance"}) net.weight(name, {3});
  Attributes norm =
      net.node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, "y");
  norm("epsilon", 0.001);
  for (const char* name : {"m", "v", "saved_m", "saved_v"}) norm.proto().add_output(name);
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y batch_norm 3x1x8x8 +6 < x"));
  EXPECT_EQ(op_of<BatchNorm>(net.read().graph, "y").epsilon, 0.001);
  EXPECT_THAT(net.read().notes, ::testing::Contains(::testing::HasSubstr("running mean")));
}

// PyTorch's affine=False: ones and zeros that no optimiser knows.
TEST(OnnxOps, BatchNormOfConstantsIsTrainedAllTheSame) {
  Model net;
  for (const char* name : {"scale", "bias"}) net.constant(name, {1, 1, 1});
  for (const char* name : {"mean", "variance"}) net.weight(name, {3});
  net.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y batch_norm 3x1x8x8 +6 < x"));
  EXPECT_THAT(net.read().notes, ::testing::Contains(::testing::HasSubstr("affine=False")));
}

Model layer_norm(const Dims& of, int axis) {
  Model net(17);
  net.weight("scale", of);
  net.weight("shift", of);
  net.node("LayerNormalization", {"x", "scale", "shift"}, "y")("axis", axis)("epsilon", 0.001);
  return net;
}

TEST(OnnxOps, LayerNormalizationIsOverTheChannels) {
  Model flat = layer_norm({3}, -1);
  EXPECT_THAT(one_node(flat, {1, 3}),
              ElementsAre("y layer_norm 3x1x1x1 +6 < x", "loss softmax_cross_entropy 3x1x1x1 < y"));
  EXPECT_EQ(op_of<LayerNorm>(flat.read().graph, "y"), (LayerNorm{0.001, true}));
  Model pooled = layer_norm({3, 1, 1}, 1);
  EXPECT_THAT(one_node(pooled, {1, 3, 1, 1}), ElementsAre("y layer_norm 3x1x1x1 +6 < x"));
}

// As ConvNeXt has them: the channels come last and go back.
TEST(OnnxOps, LayerNormalizationMayStandBetweenTransposes) {
  Model net(17);
  net.weight("scale", {3});
  net.weight("shift", {3});
  net.node("Transpose", {"x"}, "last")("perm", Dims{0, 2, 3, 1});
  net.node("LayerNormalization", {"last", "scale", "shift"}, "norm");
  net.node("Transpose", {"norm"}, "first")("perm", Dims{0, 3, 1, 2});
  net.node("Relu", {"first"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}),
              ElementsAre("norm layer_norm 3x1x8x8 +6 < x", "y relu 3x1x8x8 < norm"));
}

// PyTorch's elementwise_affine=False: ones and zeros that no optimiser knows.
TEST(OnnxOps, LayerNormalizationOfOnesAndZerosHasNoParameters) {
  Model net(17);
  net.constant("scale", {1, 1, 1}).constant("shift", {0, 0, 0});
  net.node("LayerNormalization", {"x", "scale", "shift"}, "y");
  EXPECT_THAT(one_node(net, {1, 3}),
              ElementsAre("y layer_norm 3x1x1x1 < x", "loss softmax_cross_entropy 3x1x1x1 < y"));
  EXPECT_FALSE(op_of<LayerNorm>(net.read().graph, "y").affine);
}

TEST(OnnxOps, LayerNormalizationOfOtherAxesIsAnError) {
  const auto error = [](Model net, const Dims& dims) {
    net.input("x", dims).output("y");
    return said([&] { net.read(); });
  };
  EXPECT_EQ(error(layer_norm({8}, -1), {1, 3, 8, 8}),
            "net.onnx: node y (LayerNormalization): axis is -1, from which on it normalises other "
            "axes than the channels; allowed: the channels alone, as axis 1 of (n, c) or (n, c, 1, "
            "1)");
  EXPECT_NE(error(layer_norm({3, 8}, 1), {1, 3, 8}), "");
  EXPECT_NE(error(layer_norm({2, 3}, 0), {2, 3}), "");
  EXPECT_EQ(error(layer_norm({1}, -1), {1, 3}),
            "net.onnx: node y (LayerNormalization): its parameter 'scale' is (1); allowed: (3)");
  Model unshifted(17);
  unshifted.weight("scale", {3});
  unshifted.node("LayerNormalization", {"x", "scale"}, "y");
  EXPECT_EQ(error(unshifted, {1, 3}),
            "net.onnx: node y (LayerNormalization): it has a scale and no B; allowed: both, or a "
            "constant scale of 1");
}

TEST(OnnxOps, LrnAndDropoutHaveTheirNumbers) {
  Model net;
  net.node("LRN", {"x"}, "norm")("size", 5)("alpha", 0.0002)("beta", 0.7)("bias", 2.0);
  net.constant("ratio", 0.2F);
  net.node("Dropout", {"norm", "ratio"}, "y").proto().add_output("mask");
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}),
              ElementsAre("norm lrn 3x1x8x8 < x", "y dropout 3x1x8x8 < norm"));
  const Graph graph = net.read().graph;
  EXPECT_EQ(op_of<LocalResponseNorm>(graph, "norm"), (LocalResponseNorm{5, 0.0002, 0.7, 2}));
  EXPECT_EQ(op_of<Dropout>(graph, "y").probability, 0.2);
}

TEST(OnnxOps, ActivationsHaveTheirNames) {
  Model net(14);
  net.node("Relu", {"x"}, "a");
  net.node("LeakyRelu", {"a"}, "b")("alpha", 0.2);
  net.node("Elu", {"b"}, "c");
  net.node("Sigmoid", {"c"}, "d");
  net.node("Tanh", {"d"}, "e");
  net.node("HardSwish", {"e"}, "y");
  EXPECT_THAT(
      one_node(net, {1, 3, 8}),
      ElementsAre("a relu 3x1x1x8 < x", "b leaky_relu 3x1x1x8 < a", "c elu 3x1x1x8 < b",
                  "d sigmoid 3x1x1x8 < c", "e tanh 3x1x1x8 < d", "y hard_swish 3x1x1x8 < e"));
  EXPECT_EQ(op_of<Activation>(net.read().graph, "b").slope, 0.2);
  EXPECT_EQ(op_of<Activation>(net.read().graph, "c").slope, 1);
}

// Bounds come from attributes, or, the trap, from Constant nodes.
TEST(OnnxOps, ClipIsReluReluSixOrNothing) {
  Model old(9);
  old.node("Clip", {"x"}, "six")("min", 0.0)("max", 6.0);
  old.node("Clip", {"six"}, "y")("min", 0.0);
  EXPECT_THAT(one_node(old, {1, 3, 8}),
              ElementsAre("six relu6 3x1x1x8 < x", "y relu 3x1x1x8 < six"));
  Model net(11);
  net.constant("low", 0).constant("high", 6);
  net.node("Clip", {"x", "low", "high"}, "six");
  net.node("Clip", {"six"}, "free");
  net.node("Clip", {"free", "low"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8}),
              ElementsAre("six relu6 3x1x1x8 < x", "y relu 3x1x1x8 < six"));
}

TEST(OnnxOps, ProductsThatSpellActivationsAreOneLayer) {
  Model net(13);
  net.node("Sigmoid", {"x"}, "s");
  net.node("Mul", {"x", "s"}, "silu");
  net.node("HardSigmoid", {"silu"}, "h")("alpha", 1.0 / 6);
  net.node("Mul", {"h", "silu"}, "swish");
  net.constant("root", 1.4142135F).constant("one", 1).constant("half", 0.5F);
  net.node("Div", {"swish", "root"}, "q");
  net.node("Erf", {"q"}, "erf");
  net.node("Add", {"erf", "one"}, "p");
  net.node("Mul", {"swish", "p"}, "m");
  net.node("Mul", {"m", "half"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8}),
              ElementsAre("s silu 3x1x1x8 < x", "h hard_swish 3x1x1x8 < s", "q gelu 3x1x1x8 < h"));
}

// The trap: what ends in a sigmoid is no activation's product unless that reads the other factor.
TEST(OnnxOps, AGateIsASecondFactorInEitherOrder) {
  Model net(13);
  net.node("GlobalAveragePool", {"x"}, "mean");
  net.node("Sigmoid", {"mean"}, "s");
  net.node("Mul", {"s", "x"}, "gated");
  net.node("HardSigmoid", {"s"}, "h")("alpha", 1.0 / 6);
  net.node("Mul", {"gated", "h"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8}),
              ElementsAre("mean adaptive_avg_pool1d 3x1x1x1 < x", "s sigmoid 3x1x1x1 < mean",
                          "gated multiply 3x1x1x8 < x, s", "h hard_sigmoid 3x1x1x1 < s",
                          "y multiply 3x1x1x8 < gated, h"));
}

TEST(OnnxOps, EqualFactorsKeepTheirOrder) {
  Model net;
  net.node("Relu", {"x"}, "a");
  net.node("Mul", {"a", "x"}, "b");
  net.node("Mul", {"b", "b"}, "y");
  EXPECT_THAT(
      one_node(net, {1, 3, 8}),
      ElementsAre("a relu 3x1x1x8 < x", "b multiply 3x1x1x8 < a, x", "y multiply 3x1x1x8 < b, b"));
}

TEST(OnnxOps, AHardSigmoidHasPyTorchsSlope) {
  const auto error = [](double alpha, double beta) {
    Model net;
    net.node("HardSigmoid", {"x"}, "y")("alpha", alpha)("beta", beta);
    net.input("x", {1, 3, 8}).output("y");
    return said([&] { net.read(); });
  };
  EXPECT_EQ(error(1.0 / 6, 0.5), "");
  EXPECT_EQ(error(0.25, 0.5),
            "net.onnx: node y (HardSigmoid): alpha is 0.25, beta 0.5; allowed: 1/6 and 0.5");
  EXPECT_EQ(error(1.0 / 6, 1),
            "net.onnx: node y (HardSigmoid): alpha is 0.16666667, beta 1; allowed: 1/6 and 0.5");
}

TEST(OnnxOps, ASigmoidThatOthersReadStaysOne) {
  Model net;
  net.node("Sigmoid", {"x"}, "s");
  net.node("Tanh", {"s"}, "t");
  net.node("Add", {"s", "t"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8}),
              ElementsAre("s sigmoid 3x1x1x8 < x", "t tanh 3x1x1x8 < s", "y add 3x1x1x8 < s, t"));
}

TEST(OnnxOps, SumsAndConcatsJoinTheirInputs) {
  Model net;
  net.node("Relu", {"x"}, "a");
  net.node("Sum", {"x", "a", "x"}, "sum");
  net.node("Sum", {"sum"}, "alone");
  net.node("Concat", {"alone"}, "one")("axis", 1);
  net.node("Concat", {"one", "x"}, "y")("axis", -2);
  EXPECT_THAT(
      one_node(net, {1, 3, 8}),
      ElementsAre("a relu 3x1x1x8 < x", "sum add 3x1x1x8 < x, a, x", "y concat 6x1x1x8 < sum, x"));
}

TEST(OnnxOps, TheSoftmaxAtTheEndGivesWayToTheLoss) {
  Model net(11);
  net.node("Softmax", {"x"}, "y")("axis", 1);
  EXPECT_THAT(one_node(net, {1, 10}), ElementsAre("loss softmax_cross_entropy 10x1x1x1 < x"));
  EXPECT_THAT(net.read().notes, ElementsAre("the softmax at its end is left out: the loss has it"));
}

TEST(OnnxOps, ANetworkWithoutClassesHasNoLoss) {
  Model net;
  net.node("Relu", {"x"}, "y");
  EXPECT_THAT(one_node(net, {1, 3, 8}), ElementsAre("y relu 3x1x1x8 < x"));
  EXPECT_THAT(net.read().notes, ElementsAre(::testing::StartsWith("no loss was added")));
}

TEST(OnnxOps, OneClassIsNoClassification) {
  Model net;
  net.node("Sigmoid", {"x"}, "y");
  EXPECT_THAT(one_node(net, {1, 1}), ElementsAre("y sigmoid 1x1x1x1 < x"));
  EXPECT_THAT(net.read().notes, ElementsAre(::testing::StartsWith("no loss was added")));
}

// ceil((5 + 2 - 2) / 2) + 1 = 4, but the fourth window would start at 6 - 1, behind the last of 5.
TEST(OnnxOps, ACeiledPoolingHasNoWindowInThePaddingAlone) {
  const auto pooled = [](const char* op, int kernel, const Dims& pads, std::int64_t extent) {
    Model net;
    net.node(op, {"x"}, "pool")("kernel_shape", Dims{kernel})("strides", Dims{2})("pads", pads)(
        "ceil_mode", 1);
    net.node("Relu", {"pool"}, "y");
    return one_node(net, {0, 3, extent}).back();
  };
  EXPECT_EQ(pooled("MaxPool", 2, {1, 1}, 5), "y relu 3x1x1x3 < pool");
  EXPECT_EQ(pooled("AveragePool", 2, {1, 1}, 5), "y relu 3x1x1x3 < pool");
  EXPECT_EQ(pooled("MaxPool", 1, {0, 0}, 4), "y relu 3x1x1x2 < pool");
  EXPECT_EQ(pooled("MaxPool", 3, {1, 1}, 6), "y relu 3x1x1x4 < pool");
}

}  // namespace
}  // namespace strata
