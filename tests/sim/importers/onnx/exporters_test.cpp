// What exporters other than PyTorch's write: biases as an Add of their own, channels that come
// last.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Dims;
using ::testing::ElementsAre;
using testing::lines;
using testing::Model;
using testing::one_node;

// A convolution of 2 channels to `channels` over 4 rows and columns, and what `bias` adds to it.
std::vector<std::string> added(const Dims& bias, std::int64_t channels) {
  Model net;
  net.weight("w", {channels, 2, 1, 1});
  net.weight("b", bias);
  net.node("Conv", {"x", "w"}, "conv");
  net.node("Add", {"conv", "b"}, "y");
  return one_node(net, {0, 2, 4, 4});
}

TEST(OnnxExporters, AnAddAlongTheChannelsIsTheConvolutionsBias) {
  for (const Dims& bias : {Dims{3, 1, 1}, Dims{1, 3, 1, 1}})
    EXPECT_THAT(added(bias, 3), ElementsAre("conv conv2d 3x1x4x4 +9 < x"));
}

// (4) runs along the columns, of which there are as many.
TEST(OnnxExporters, AnAddAlongAnythingElseIsNot) {
  EXPECT_EQ(said([] { added({4}, 4); }),
            "net.onnx: node y (Add): its input 'b' is a constant; allowed: what depends on the "
            "data");
  EXPECT_NE(said([] { added({3, 4, 4}, 3); }), "");
  EXPECT_NE(said([] { added({4, 1}, 4); }), "");
}

TEST(OnnxExporters, OfAConvolutionThatIsReadTwiceItIsNotEither) {
  Model net;
  net.weight("w", {3, 2, 1, 1});
  net.weight("b", {3, 1, 1});
  net.node("Conv", {"x", "w"}, "conv");
  net.node("Add", {"b", "conv"}, "sum");
  net.node("Concat", {"conv", "sum"}, "y")("axis", 1);
  EXPECT_NE(said([&] { one_node(net, {0, 2, 4, 4}); }), "");
}

// tf2onnx: data of (n, h, w, c), turned for the convolution and back for what follows. The classes
TEST(OnnxExporters, ChannelsMayComeLast) {
  Model net;
  net.weight("w", {3, 2, 1, 1});
  net.weight("b", {3}, {10, 20, 30});
  net.weight("fc", {3, 5});
  net.node("Transpose", {"x"}, "first")("perm", Dims{0, 3, 1, 2});
  net.node("Conv", {"first", "w"}, "conv");
  net.node("Transpose", {"conv"}, "last")("perm", Dims{0, 2, 3, 1});
  net.node("Add", {"b", "last"}, "sum");
  net.node("Relu", {"sum"}, "relu");
  net.node("ReduceMean", {"relu"}, "mean")("axes", Dims{1, -2})("keepdims", 0);
  net.node("MatMul", {"mean", "fc"}, "y");
  net.input("x", {0, 4, 6, 2}).output("y");
  const OnnxModel model = net.read(2, OnnxWeights::read);
  EXPECT_THAT(lines(model.graph),
              ElementsAre("x input 2x1x4x6", "conv conv2d 3x1x4x6 +9 < x",
                          "relu relu 3x1x4x6 < conv", "mean adaptive_avg_pool2d 3x1x1x1 < relu",
                          "y fc 5x1x1x1 +15 < mean", "loss softmax_cross_entropy 5x1x1x1 < y"));
  EXPECT_THAT(model.weights[1], ElementsAre(0, 1, 2, 3, 4, 5, 10, 20, 30));
  EXPECT_THAT(model.notes, ElementsAre("input 'x' has its channels last; here they come first"));
}

TEST(OnnxExporters, AMeanOverTheChannelsIsNoPooling) {
  Model net;
  net.node("ReduceMean", {"x"}, "y")("axes", Dims{1, 2});
  EXPECT_EQ(said([&] {
              one_node(net, {0, 2, 4, 4});
            }),
            "net.onnx: node y (ReduceMean): its axes are (1, 2); allowed: all spatial ones, (2, "
            "3)");
}

TEST(OnnxExporters, ABiasMayHaveTwoNames) {
  Model net;
  net.weight("w", {4, 3});
  net.weight("b", {3});
  net.node("MatMul", {"x", "w"}, "product");
  net.node("Identity", {"b"}, "bias");
  net.node("Identity", {"bias"}, "again");
  net.node("Add", {"product", "again"}, "y");
  EXPECT_THAT(one_node(net, {0, 4}), ElementsAre("product fc 3x1x1x1 +15 < x",
                                                 "loss softmax_cross_entropy 3x1x1x1 < product"));
}

TEST(OnnxExporters, SoMayTheSoftmaxAtTheEnd) {
  const auto ended = [](const char* last) {
    Model net;
    net.node("Softmax", {"x"}, "p")("axis", 1);
    net.node("Identity", {"p"}, "q");
    net.node(last, {"q"}, "y");
    return one_node(net, {0, 4});
  };
  EXPECT_THAT(ended("Identity"), ElementsAre("loss softmax_cross_entropy 4x1x1x1 < x"));
  EXPECT_EQ(said([&] { ended("Relu"); }),
            "net.onnx: node p (Softmax): allowed: over the channels of (n, c), at the network's "
            "end");
}

}  // namespace
}  // namespace strata
