// Which of a graph's outputs a network ends in.

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

// A body, and heads that read it: features of (n, c, w), and classes of (n, c).
Model body() {
  Model net;
  net.weight("w", {24, 5});
  net.node("Relu", {"x"}, "body");
  net.node("Flatten", {"body"}, "flat");
  net.input("x", {0, 3, 8});
  return net;
}

TEST(OnnxOutputs, OfSeveralTheClassifiersIsRead) {
  Model net = body();
  net.node("MatMul", {"flat", "w"}, "classes");
  net.node("Tanh", {"body"}, "features");
  net.output("features").output("classes");
  const OnnxModel model = net.read();
  EXPECT_THAT(lines(model.graph),
              ElementsAre("x input 3x1x1x8", "body relu 3x1x1x8 < x",
                          "flat flatten 24x1x1x1 < body", "classes fc 5x1x1x1 +120 < flat",
                          "loss softmax_cross_entropy 5x1x1x1 < classes"));
  EXPECT_THAT(model.notes,
              ::testing::Contains("of its 2 outputs 'classes' alone is read, the last that is (n, "
                                  "c); what only others need is left out"));
}

// GoogLeNet's and Inception's in training: the first output in the file, the last to be written.
TEST(OnnxOutputs, HeadsForTrainingComeBeforeTheClassifier) {
  Model net = body();
  net.weight("v", {24, 5});
  net.node("MatMul", {"flat", "v"}, "auxiliary");
  net.node("MatMul", {"flat", "w"}, "classes");
  net.output("classes").output("auxiliary");
  EXPECT_EQ(net.read().graph.layers().back().inputs,
            std::vector<LayerId>{net.read().graph.find("classes")});
  EXPECT_FALSE(net.read().graph.find("auxiliary").valid());
}

// Whatever their ops, for neither is computed here.
TEST(OnnxOutputs, WhatOnlyOtherOutputsNeedMayBeAnyOp) {
  Model net = body();
  net.node("Log", {"body"}, "logs");
  net.node("MatMul", {"flat", "w"}, "classes");
  net.output("classes").output("logs");
  EXPECT_EQ(net.read().graph.size(), 5U);
}

// Classes or not: nothing says the shape of what com.example's op gives.
TEST(OnnxOutputs, AnOutputOfAnOpThatNobodyKnowsIsNotLeftOut) {
  Model net = body();
  net.node("MatMul", {"flat", "w"}, "classes");
  net.node("Magic", {"body"}, "magic").proto().set_domain("com.example");
  net.node("Relu", {"magic"}, "more");
  net.output("classes").output("more");
  EXPECT_EQ(said([&] { net.read(); }),
            "net.onnx: op com.example.Magic is not supported: 1 node (magic)");
}

TEST(OnnxOutputs, NodesThatNoOutputNeedsMayBeAnyOp) {
  Model net = body();
  net.node("Magic", {"body"}, "magic").proto().set_domain("com.example");
  net.node("Identity", {"magic"}, "more").proto().clear_output();
  net.graph().mutable_node(net.graph().node_size() - 1)->set_domain("com.example");
  net.node("MatMul", {"flat", "w"}, "classes");
  net.output("classes");
  EXPECT_EQ(net.read().graph.size(), 5U);
}

TEST(OnnxOutputs, WithoutAClassifierAllAreRead) {
  Model net = body();
  net.node("Tanh", {"body"}, "one");
  net.node("Sigmoid", {"body"}, "two");
  net.output("one").output("two");
  EXPECT_THAT(lines(net.read().graph),
              ElementsAre("x input 3x1x1x8", "body relu 3x1x1x8 < x", "one tanh 3x1x1x8 < body",
                          "two sigmoid 3x1x1x8 < body"));
  EXPECT_THAT(net.read().notes, ElementsAre(::testing::StartsWith("no loss was added")));
}

}  // namespace
}  // namespace strata
