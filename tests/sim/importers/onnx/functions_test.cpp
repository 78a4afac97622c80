// Functions that a file defines of other ops: their nodes stand where they are called.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Attributes;
using testing::Dims;
using ::testing::ElementsAre;
using testing::Model;
using testing::Names;
using testing::one_node;

class Function {
 public:
  Function(Model& net, const char* name, const Names& inputs, const Names& outputs)
      : proto_(*net.proto.add_functions()) {
    proto_.set_name(name);
    proto_.set_domain("torch");
    for (const auto& input : inputs) proto_.add_input(input);
    for (const auto& output : outputs) proto_.add_output(output);
    auto& opset = *proto_.add_opset_import();
    opset.set_version(net.proto.opset_import(0).version());
  }
  Attributes node(const char* op, const Names& inputs, const char* output) {
    auto& node = *proto_.add_node();
    node.set_op_type(op);
    for (const auto& input : inputs) node.add_input(input);
    node.add_output(output);
    return Attributes(node);
  }
  onnx::FunctionProto& proto() { return proto_; }

 private:
  onnx::FunctionProto& proto_;
};

void call(Model& net, const char* function, const Names& inputs, const char* output) {
  net.node(function, inputs, output).proto().set_domain("torch");
}

void refer(onnx::NodeProto& node, const char* name, onnx::AttributeProto::AttributeType type,
           const char* to) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  attribute.set_ref_attr_name(to);
}

TEST(OnnxFunctions, TheirNodesStandWhereTheyAreCalled) {
  Model net(18);
  net.weight("w", {4, 3, 1, 1});
  Function block(net, "Block", {"a", "weight"}, {"b"});
  block.node("Conv", {"a", "weight"}, "c");
  block.node("Relu", {"c"}, "b");
  call(net, "Block", {"x", "w"}, "one");
  net.weight("v", {4, 4, 1, 1});
  call(net, "Block", {"one", "v"}, "y");
  EXPECT_THAT(one_node(net, {2, 3, 5, 5}),
              ElementsAre("one_Conv conv2d 4x1x5x5 +12 < x", "one_Relu relu 4x1x5x5 < one_Conv",
                          "y_Conv conv2d 4x1x5x5 +16 < one_Relu", "y_Relu relu 4x1x5x5 < y_Conv"));
}

TEST(OnnxFunctions, MayCallOthers) {
  Model net(18);
  Function outer(net, "Outer", {"a"}, {"b"});
  outer.node("Inner", {"a"}, "b").proto().set_domain("torch");
  Function inner(net, "Inner", {"a"}, {"b"});
  inner.node("Tanh", {"a"}, "b");
  call(net, "Outer", {"x"}, "y");
  EXPECT_THAT(one_node(net, {2, 3, 5}), ElementsAre("y_Inner_Tanh tanh 3x1x1x5 < x"));
}

// From the call, or else from the function's own defaults, a field that the library does not know.
TEST(OnnxFunctions, HaveAttributes) {
  const auto slope = [](bool says) {
    Model net(18);
    Function leaky(net, "Leaky", {"a"}, {"b"});
    refer(leaky.node("LeakyRelu", {"a"}, "b").proto(), "alpha", onnx::AttributeProto::FLOAT, "s");
    onnx::NodeProto defaults;
    Attributes{defaults}("s", 0.25);
    constexpr int kDefaults = 11;
    leaky.proto()
        .GetReflection()
        ->MutableUnknownFields(&leaky.proto())
        ->AddLengthDelimited(kDefaults, defaults.attribute(0).SerializeAsString());
    auto node = net.node("Leaky", {"x"}, "y");
    node.proto().set_domain("torch");
    if (says) node("s", 0.5);
    net.input("x", {2, 3, 5}).output("y");
    return std::get<Activation>(net.read().graph.layers()[1].op).slope;
  };
  EXPECT_EQ(slope(true), 0.5);
  EXPECT_EQ(slope(false), 0.25);
}

TEST(OnnxFunctions, ThatCallThemselvesAreErrors) {
  Model net(18);
  Function one(net, "One", {"a"}, {"b"});
  one.node("Other", {"a"}, "b").proto().set_domain("torch");
  Function other(net, "Other", {"a"}, {"b"});
  other.node("One", {"a"}, "b").proto().set_domain("torch");
  call(net, "One", {"x"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: node y (One): its function torch.One calls itself");
}

// Its field is newer than the library.
void set_overload(google::protobuf::Message& message, int field, const char* overload) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, overload);
}

void set_overload(onnx::FunctionProto& function, const char* overload) {
  set_overload(function, 13, overload);
}

void set_overload(onnx::NodeProto& node, const char* overload) {
  set_overload(node, 8, overload);
}

TEST(OnnxFunctions, OfOneNameAreErrors) {
  Model net(18);
  for (const char* op : {"Relu", "Tanh"}) {
    Function one(net, "One", {"a"}, {"b"});
    one.node(op, {"a"}, "b");
  }
  call(net, "One", {"x"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: its function torch.One is defined twice; allowed: once");
}

TEST(OnnxFunctions, OfOneNameMayBeOverloads) {
  const auto called = [](const char* overload) {
    Model net(18);
    Function plain(net, "One", {"a"}, {"b"});
    plain.node("Relu", {"a"}, "b");
    Function other(net, "One", {"a"}, {"b"});
    other.node("Tanh", {"a"}, "b");
    set_overload(other.proto(), "of_tanh");
    call(net, "One", {"x"}, "y");
    set_overload(*net.graph().mutable_node(0), overload);
    return one_node(net, {2, 3, 5});
  };
  EXPECT_THAT(called(""), ElementsAre("y_Relu relu 3x1x1x5 < x"));
  EXPECT_THAT(called("of_tanh"), ElementsAre("y_Tanh tanh 3x1x1x5 < x"));
  EXPECT_EQ(said([&] { called("of_sine"); }),
            "net.onnx: op torch.One is not supported: 1 node (y)");
}

TEST(OnnxFunctions, OfAnotherOpsetAreErrors) {
  Model net(18);
  Function old(net, "Old", {"a"}, {"b"});
  old.node("Relu", {"a"}, "b");
  old.proto().mutable_opset_import(0)->set_version(17);
  call(net, "Old", {"x"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: node y (Old): its function torch.Old is of opset 17; allowed: 18, as the "
            "model");
}

TEST(OnnxFunctions, TakeNoMoreInputsThanTheySay) {
  Model net(18);
  Function one(net, "One", {"a"}, {"b"});
  one.node("Relu", {"a"}, "b");
  call(net, "One", {"x", "x"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: node y (One): it has 2 inputs or outputs; allowed: 1, as its function");
}

// Each calls the one before it.
std::string said_of_chain(int length) {
  Model net(18);
  Function first(net, "F0", {"a"}, {"b"});
  first.node("Relu", {"a"}, "b");
  for (int i = 1; i < length; ++i) {
    Function next(net, fmt::format("F{}", i).c_str(), {"a"}, {"b"});
    next.node(fmt::format("F{}", i - 1).c_str(), {"a"}, "b").proto().set_domain("torch");
  }
  call(net, fmt::format("F{}", length - 1).c_str(), {"x"}, "y");
  return said([&] { one_node(net, {2, 3, 5}); });
}

TEST(OnnxFunctions, MayCallOthersToADepth) {
  EXPECT_EQ(said_of_chain(64), "");
  EXPECT_EQ(said_of_chain(65),
            "net.onnx: node y (F64): its functions call each other more than 64 deep");
  EXPECT_EQ(said_of_chain(20'000),
            "net.onnx: node y (F19999): its functions call each other more than 64 deep");
}

// Each calls the one before it twice: 2^20 nodes of two dozen.
TEST(OnnxFunctions, MayNotMakeTheGraphTooLarge) {
  Model net(18);
  Function first(net, "F0", {"a"}, {"b"});
  first.node("Relu", {"a"}, "b");
  for (int i = 1; i <= 20; ++i) {
    Function next(net, fmt::format("F{}", i).c_str(), {"a"}, {"b"});
    const std::string before = fmt::format("F{}", i - 1);
    next.node(before.c_str(), {"a"}, "c").proto().set_domain("torch");
    next.node(before.c_str(), {"c"}, "b").proto().set_domain("torch");
  }
  call(net, "F20", {"x"}, "y");
  EXPECT_EQ(
      said([&] {
        one_node(net, {2, 3, 5});
      }),
      "net.onnx: node y (F20): with the nodes of its functions the graph has more than 100000 "
      "nodes or 2 GiB");
}

}  // namespace
}  // namespace strata
