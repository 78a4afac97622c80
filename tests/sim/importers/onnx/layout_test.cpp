// What only moves names, axes and zeros: no layers come out of it.

#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/importers/onnx/names.h"
#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Dims;
using ::testing::ElementsAre;
using testing::lines;
using testing::Model;
using testing::one_node;

TEST(OnnxLayout, ATransposeThereAndBackIsNothing) {
  Model net;
  net.node("Transpose", {"x"}, "last")("perm", Dims{0, 2, 3, 1});
  net.node("Relu", {"last"}, "relu");
  net.node("Concat", {"relu", "last"}, "join")("axis", 3);
  net.node("Transpose", {"join"}, "first")("perm", Dims{0, 3, 1, 2});
  net.node("MaxPool", {"first"}, "y")("kernel_shape", Dims{2, 2});
  EXPECT_THAT(one_node(net, {1, 3, 8, 6}),
              ElementsAre("relu relu 3x1x8x6 < x", "join concat 6x1x8x6 < relu, x",
                          "y max_pool2d 6x1x7x5 < join"));
}

TEST(OnnxLayout, AWindowOverTransposedAxesIsRefused) {
  Model net;
  net.node("Transpose", {"x"}, "turned")("perm", Dims{0, 1, 3, 2});
  net.node("MaxPool", {"turned"}, "y")("kernel_shape", Dims{2, 2});
  EXPECT_EQ(said([&] {
              one_node(net, {1, 3, 8, 6});
            }),
            "net.onnx: node y (MaxPool): its input 'turned' is not in the order n, c, [d,] [h,] w: "
            "the Transpose or Reshape before it is not only layout");
}

TEST(OnnxLayout, FlatteningIsALayerWhereMoreThanChannelsAreLeft) {
  Model net;
  net.node("Flatten", {"x"}, "flat");
  net.weight("w", {5, 24});
  net.node("Gemm", {"flat", "w"}, "y")("transB", 1);
  EXPECT_THAT(one_node(net, {0, 3, 2, 4}),
              ElementsAre("flat flatten 24x1x1x1 < x", "y fc 5x1x1x1 +120 < flat",
                          "loss softmax_cross_entropy 5x1x1x1 < y"));
  Model pooled;
  pooled.node("GlobalAveragePool", {"x"}, "pool");
  pooled.node("Flatten", {"pool"}, "y");
  EXPECT_THAT(one_node(pooled, {0, 3, 2, 4}),
              ElementsAre("pool adaptive_avg_pool2d 3x1x1x1 < x",
                          "loss softmax_cross_entropy 3x1x1x1 < pool"));
}

TEST(OnnxLayout, FlatteningMovesALoneWidthToTheChannels) {
  Model net;
  net.node("Flatten", {"x"}, "y");
  EXPECT_THAT(one_node(net, {0, 1, 8}),
              ElementsAre("y flatten 8x1x1x1 < x", "loss softmax_cross_entropy 8x1x1x1 < y"));
}

// As x.view(x.size(0), -1) comes out of PyTorch.
TEST(OnnxLayout, AReshapeToAComputedShapeIsKnown) {
  Model net;
  net.integers("zero", {0}).integers("rest", {-1});
  net.graph().mutable_initializer(0)->clear_dims();
  net.node("Shape", {"x"}, "shape");
  net.node("Gather", {"shape", "zero"}, "n")("axis", 0);
  net.integers("axes", {0});
  net.node("Unsqueeze", {"n", "axes"}, "n1");
  net.node("Concat", {"n1", "rest"}, "target")("axis", 0);
  net.node("Reshape", {"x", "target"}, "y");
  EXPECT_THAT(one_node(net, {0, 3, 2, 4}),
              ElementsAre("y flatten 24x1x1x1 < x", "loss softmax_cross_entropy 24x1x1x1 < y"));
}

// As x.view(floor(shape)) has it: neither Cast nor Floor works on the data.
TEST(OnnxLayout, AShapeMayBeComputedByAnyOp) {
  Model net;
  net.node("Shape", {"x"}, "shape");
  net.node("Cast", {"shape"}, "floats")("to", onnx::TensorProto::FLOAT);
  net.node("Floor", {"floats"}, "floor");
  net.node("Cast", {"floor"}, "whole")("to", onnx::TensorProto::INT64);
  net.node("Reshape", {"x", "whole"}, "same");
  net.node("Relu", {"same"}, "y");
  EXPECT_THAT(one_node(net, {0, 3, 8}), ElementsAre("y relu 3x1x1x8 < x"));
}

TEST(OnnxLayout, AxesOfOneComeAndGo) {
  Model net(11);
  net.node("Unsqueeze", {"x"}, "four")("axes", Dims{2});
  net.node("GlobalAveragePool", {"four"}, "pool");
  net.node("Squeeze", {"pool"}, "y")("axes", Dims{2, 3});
  EXPECT_THAT(one_node(net, {1, 3, 8}), ElementsAre("pool adaptive_avg_pool2d 3x1x1x1 < x",
                                                    "loss softmax_cross_entropy 3x1x1x1 < pool"));
}

TEST(OnnxLayout, AReshapeThatMixesAxesIsRefused) {
  Model net;
  net.integers("target", {0, 2, 12});
  net.node("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {0, 3, 8});
            }),
            "net.onnx: node y (Reshape): its output is (7, 2, 12) for a batch of 7; allowed: (n, "
            "all others), and axes of extent 1 that come and go");
}

// The trap: PyTorch spells the zeros that an average counts.
TEST(OnnxLayout, APadBeforeAPoolingIsItsPadding) {
  Model net(11);
  net.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  net.node("Pad", {"x", "pads"}, "pad");
  net.node("AveragePool", {"pad"}, "y")("kernel_shape", Dims{3, 3});
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y avg_pool2d 3x1x8x8 < x"));
  const Graph graph = net.read().graph;
  const Window window{3, 1, 1, 1, 1};
  EXPECT_EQ(std::get<Pooling>(graph[graph.find("y")].op),
            (Pooling{2, PoolMode::average, {{}, window, window}, false, true}));
}

TEST(OnnxLayout, APadBeforeAConvolutionAddsToItsPadding) {
  Model net(10);
  net.weight("w", {4, 3, 3, 3});
  net.node("Pad", {"x"}, "pad")("pads", Dims{0, 0, 0, 0, 0, 0, 1, 2});
  net.node("Conv", {"pad", "w"}, "y")("pads", Dims{1, 1, 1, 1});
  EXPECT_THAT(one_node(net, {1, 3, 8, 8}), ElementsAre("y conv2d 4x1x9x10 +108 < x"));
}

// Of the last axis first, each with its begin and end, as PyTorch's pad() has them: a table that is
// turned upside down and transposed gives all begins, then all ends, of the first axis first.
void add_pads(Model& net, const Dims& pads) {
  net.integers("given", pads).integers("rows", {-1, 2}).integers("flat", {-1});
  net.integers("down", {-1}).integers("top", {-INT64_MAX}).integers("zero", {0});
  net.integers("two", {2}).integers("rank", {4});
  net.node("Shape", {"given"}, "count");
  net.node("Mul", {"rank", "two"}, "all");
  net.node("Sub", {"all", "count"}, "others");
  auto& value = *net.node("ConstantOfShape", {"others"}, "zeros").proto().add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::INT64);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int64_data(0);
  net.node("Concat", {"given", "zeros"}, "list")("axis", 0);
  net.node("Reshape", {"list", "rows"}, "table");
  net.node("Slice", {"table", "down", "top", "zero", "down"}, "turned");
  net.node("Transpose", {"turned"}, "columns")("perm", Dims{1, 0});
  net.node("Reshape", {"columns", "flat"}, "row");
  net.node("Cast", {"row"}, "pads")("to", 7);
}

TEST(OnnxLayout, PadsThatPyTorchComputesAreKnown) {
  Model net(11);
  add_pads(net, {1, 2, 0, 3});
  net.weight("w", {4, 3, 3, 3});
  net.node("Pad", {"x", "pads"}, "pad");
  net.node("Conv", {"pad", "w"}, "y");
  EXPECT_THAT(one_node(net, {0, 3, 8, 8}), ElementsAre("y conv2d 4x1x9x9 +108 < x"));
  const Graph graph = net.read().graph;
  const auto& windows = std::get<Convolution>(graph[graph.find("y")].op).windows;
  EXPECT_EQ(windows[Dim::h], (Window{3, 1, 0, 3, 1}));
  EXPECT_EQ(windows[Dim::w], (Window{3, 1, 1, 2, 1}));
}

TEST(OnnxLayout, APadAtTheEndIsRefused) {
  Model net(10);
  net.node("Pad", {"x"}, "y")("pads", Dims{0, 0, 1, 1, 0, 0, 1, 1});
  EXPECT_EQ(said([&] {
              one_node(net, {1, 3, 8, 8});
            }),
            "net.onnx: output 'y': a Pad stands before it; allowed: before a convolution or a "
            "pooling");
}

TEST(OnnxLayout, ZerosMayNotWinAMaximum) {
  const auto padded = [](const char* before) {
    Model net(10);
    net.node(before, {"x"}, "a");
    net.node("Pad", {"a"}, "pad")("pads", Dims{0, 0, 1, 1, 0, 0, 1, 1});
    net.node("MaxPool", {"pad"}, "y")("kernel_shape", Dims{3, 3});
    return one_node(net, {1, 3, 8, 8});
  };
  EXPECT_THAT(padded("Relu"), ElementsAre("a relu 3x1x8x8 < x", "y max_pool2d 3x1x8x8 < a"));
  EXPECT_EQ(said([&] { padded("Tanh"); }),
            "net.onnx: node y (MaxPool): the zeros of a Pad before it may be its maxima; allowed: "
            "after a Relu, a Clip from 0 to 6 or a Sigmoid");
}

TEST(OnnxLayout, NodesThatNoOutputNeedsAreLeftOut) {
  Model net;
  net.node("Relu", {"x"}, "y");
  net.node("Tanh", {"x"}, "unused");
  EXPECT_THAT(one_node(net, {1, 3, 8}), ElementsAre("y relu 3x1x1x8 < x"));
}

TEST(OnnxLayout, TheBatchIsTheOneAskedFor) {
  Model net;
  net.integers("target", {4, -1});  // as exported with a batch of 4
  net.node("Reshape", {"x", "target"}, "y");
  net.input("x", {4, 3, 8}).output("y");
  const Graph graph = net.read(32).graph;
  EXPECT_EQ(graph.batch(), 32);
  EXPECT_EQ(graph[graph.find("y")].output, (Extents{{32, 24, 1, 1, 1}}));
}

TEST(OnnxNames, ReadLikeTheModulesThatTheyComeFrom) {
  EXPECT_EQ(layer_name("/features/features.0/Conv"), "features_0_Conv");
  EXPECT_EQ(layer_name("/features/features.3/squeeze/Conv"), "features_3_squeeze_Conv");
  EXPECT_EQ(layer_name("Conv_12"), "Conv_12");
  EXPECT_EQ(layer_name("model/conv2d/BiasAdd:0"), "model_conv2d_BiasAdd_0");
  EXPECT_EQ(layer_name("\xff\n"), "");
}

TEST(OnnxNames, AreMadeNew) {
  LayerNames names;
  EXPECT_EQ(names.take("a"), "a");
  EXPECT_EQ(names.take("a_2"), "a_2");
  EXPECT_EQ(names.take("a"), "a_3");
  EXPECT_EQ(names.take("a"), "a_4");
}

TEST(OnnxNames, ThatNoLayerHasAreFreeAgain) {
  LayerNames names;
  names.give_back("a", names.take("a"));
  EXPECT_EQ(names.take("a"), "a");
  names.give_back("a", names.take("a"));
  EXPECT_EQ(names.take("a"), "a_2");
  EXPECT_EQ(names.take("a"), "a_3");
}

TEST(OnnxNames, NodesWithoutOneHaveTheirOpAndNumber) {
  Model net;
  net.node("Relu", {"x"}, "a").proto().clear_name();
  net.node("Relu", {"a"}, "y").proto().set_name("");
  EXPECT_THAT(one_node(net, {1, 3, 8}),
              ElementsAre("Relu_0 relu 3x1x1x8 < x", "Relu_1 relu 3x1x1x8 < Relu_0"));
}

}  // namespace
}  // namespace strata
