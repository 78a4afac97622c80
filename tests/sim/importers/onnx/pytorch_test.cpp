// What PyTorch's exporters of today write, which is of opset 18 and later: axes as inputs, biases
// and bounds that nodes compute, dropout by draws, and functions.

#include <limits>
#include <utility>

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
using ::testing::StartsWith;

void add_integer_constant(Model& net, const char* name, std::int64_t value) {
  auto& attribute = *net.node("Constant", {}, name).proto().add_attribute();
  attribute.set_name("value_ints");
  attribute.set_type(onnx::AttributeProto::INTS);
  attribute.add_ints(value);
}

void add_scopes(onnx::NodeProto& node, const char* scopes) {
  constexpr int kMetadata = 9;  // newer than the library
  onnx::StringStringEntryProto entry;
  entry.set_key("pkg.torch.onnx.name_scopes");
  entry.set_value(scopes);
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(kMetadata,
                                                                        entry.SerializeAsString());
}

// Zeros, as many as the weight has rows; their type is the data's.
void add_zeros(Model& net, const char* weight, const char* name) {
  net.constant("zero", 0);
  net.node("Shape", {weight}, "rows")("start", 0)("end", 1);
  net.node("CastLike", {"zero", "x"}, "cast");
  net.node("Expand", {"cast", "rows"}, name);
}

TEST(OnnxPytorch, ABiasOfComputedZerosIsNone) {
  Model net(20);
  net.weight("w", {4, 3, 1, 1});
  add_zeros(net, "w", "zeros");
  net.node("Conv", {"x", "w", "zeros"}, "y");
  EXPECT_THAT(one_node(net, {2, 3, 5, 5}), ElementsAre("y conv2d 4x1x5x5 +12 < x"));
}

TEST(OnnxPytorch, AComputedBiasOfOtherNumbersIsAnError) {
  Model net(20);
  net.weight("w", {4, 3, 1, 1});
  add_zeros(net, "w", "ones");
  net.graph().mutable_node(0)->mutable_attribute(0)->mutable_t()->set_float_data(0, 1);
  net.node("Conv", {"x", "w", "ones"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5, 5});
            }),
            "net.onnx: node y (Conv): its input 'ones' is computed; allowed: an initializer or a "
            "constant");
}

TEST(OnnxPytorch, BoundsMayBeCastToTheirDatasType) {
  Model net(18);
  net.constant("low", 0).constant("high", 6);
  net.node("CastLike", {"low", "x"}, "min");
  net.node("CastLike", {"high", "x"}, "max");
  net.node("Clip", {"x", "min", "max"}, "y");
  EXPECT_THAT(one_node(net, {2, 3, 5, 5}), ElementsAre("y relu6 3x1x5x5 < x"));
}

// The type is that of its second input, which inference knows.
TEST(OnnxPytorch, ACastIsOneBetweenFloats) {
  const auto cast = [](int type) {
    Model net(18);
    net.weight("like", {0}).set_data_type(type);
    net.node("CastLike", {"x", "like"}, "cast");
    net.node("Relu", {"cast"}, "y");
    return one_node(net, {2, 3, 5});
  };
  EXPECT_THAT(cast(onnx::TensorProto::FLOAT16), ElementsAre("y relu 3x1x1x5 < x"));
  for (const int type : {onnx::TensorProto::INT64, onnx::TensorProto::BOOL}) {
    EXPECT_EQ(said([&] { cast(type); }),
              "net.onnx: node cast (CastLike): it casts to no float; allowed: floats");
  }
}

// 6.5 is 6 then.
TEST(OnnxPytorch, AConstantThatIsCastToIntegersIsNoBound) {
  Model net(18);
  net.constant("low", 0).constant("bound", 6.5F);
  net.integers("like", {1});
  net.node("CastLike", {"bound", "like"}, "whole");
  net.node("CastLike", {"whole", "x"}, "high");
  net.node("Clip", {"x", "low", "high"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: node y (Clip): its input 'high' is computed; allowed: an initializer or a "
            "constant");
}

TEST(OnnxPytorch, BoundsMayBeInfinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Model net(18);
  net.constant("zero", 0).constant("inf", kInfinity).constant("-inf", -kInfinity);
  net.integers("all", {});
  net.node("CastLike", {"inf", "x"}, "high");
  net.node("Expand", {"-inf", "all"}, "low");
  net.node("Clip", {"x", "zero", "high"}, "relu");
  net.node("Clip", {"relu", "low", "high"}, "y");
  EXPECT_THAT(one_node(net, {2, 3, 5, 5}), ElementsAre("relu relu 3x1x5x5 < x"));
}

TEST(OnnxPytorch, ABoundThatIsNoNumberIsAnError) {
  Model net(18);
  net.constant("nan", std::numeric_limits<float>::quiet_NaN());
  net.node("CastLike", {"nan", "x"}, "high");
  net.node("Clip", {"x", "", "high"}, "y");
  EXPECT_NE(said([&] {
              one_node(net, {2, 3, 5, 5});
            }).find("node y (Clip): it clips to"),
            std::string::npos);
}

TEST(OnnxPytorch, AMeanHasItsAxesAsAnInput) {
  const auto mean = [](const Dims& axes, int keeps) {
    Model net(18);
    net.integers("axes", axes);
    net.node("ReduceMean", {"x", "axes"}, "mean")("keepdims", keeps)("noop_with_empty_axes", 0);
    net.node("Relu", {"mean"}, "y");
    return one_node(net, {2, 3, 5, 4});
  };
  EXPECT_EQ(mean({-1, -2}, 1).front(), "mean adaptive_avg_pool2d 3x1x1x1 < x");
  EXPECT_EQ(mean({2, 3}, 0).front(), "mean adaptive_avg_pool2d 3x1x1x1 < x");
  EXPECT_EQ(
      said([&] { mean({3}, 1); }),
      "net.onnx: node mean (ReduceMean): its axes are (3); allowed: all spatial ones, (2, 3)");
  EXPECT_NE(said([&] { mean({}, 1); }), "");
}

TEST(OnnxPytorch, AMeanOfOpset18HasNoAxesAttribute) {
  Model net(18);
  net.node("ReduceMean", {"x"}, "y")("axes", Dims{2, 3});
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5, 4});
            }),
            "net.onnx: node y (ReduceMean): attribute axes is none of ReduceMean since opset 18");
}

// The batch by x's own shape, as torch.export's dynamic shapes have it.
TEST(OnnxPytorch, AViewKeepsTheBatch) {
  Model net(20);
  net.node("Shape", {"x"}, "first")("start", 0)("end", 1);
  net.node("Squeeze", {"first"}, "batch");
  add_integer_constant(net, "minus_one", -1);
  add_integer_constant(net, "rest", 60);
  net.node("Reshape", {"batch", "minus_one"}, "list")("allowzero", 0);
  net.node("Concat", {"list", "rest"}, "shape")("axis", 0);
  net.node("Reshape", {"x", "shape"}, "y")("allowzero", 1);
  EXPECT_THAT(one_node(net, {0, 3, 5, 4}),
              ElementsAre("y flatten 60x1x1x1 < x", "loss softmax_cross_entropy 60x1x1x1 < y"));
}

TEST(OnnxPytorch, GeluIsAnOpOfItsOwn) {
  const auto gelu = [](const char* approximate) {
    Model net(20);
    net.node("Gelu", {"x"}, "y")("approximate", approximate);
    return one_node(net, {2, 3, 5});
  };
  EXPECT_THAT(gelu("none"), ElementsAre("y gelu 3x1x1x5 < x"));
  EXPECT_THAT(gelu("tanh"), ElementsAre("y gelu 3x1x1x5 < x"));
  EXPECT_EQ(said([&] { gelu("erf"); }),
            "net.onnx: node y (Gelu): it is approximated by erf; allowed: none, tanh");
}

TEST(OnnxPytorch, BeforeOpset20ThereIsNoGelu) {
  Model net(17);
  net.node("Gelu", {"x"}, "y");
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: op Gelu is not supported: 1 node (y)");
}

TEST(OnnxPytorch, APadMayBeOfTheSpatialAxesAlone) {
  Model net(18);
  net.weight("w", {4, 3, 3, 3});
  net.integers("pads", {1, 0, 2, 1}).integers("axes", {-1, -2});
  net.node("Pad", {"x", "pads", "", "axes"}, "pad");
  net.node("Conv", {"pad", "w"}, "y");
  // 5 + 0 + 1 - 2 rows, 4 + 1 + 2 - 2 columns
  EXPECT_THAT(one_node(net, {2, 3, 5, 4}), ElementsAre("y conv2d 4x1x4x5 +108 < x"));
}

TEST(OnnxPytorch, AnAverageWithDilationsIsNotOurs) {
  Model net(19);
  net.node("AveragePool", {"x"}, "y")("kernel_shape", Dims{2})("dilations", Dims{2});
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: node y (AveragePool): average pooling has no dilation");
}

// An initializer may be trained.
TEST(OnnxPytorch, AProductWithAConstantOneIsNothing) {
  Model net(18);
  net.constant("one", 1);
  net.node("CastLike", {"one", "x"}, "scale");
  net.node("Mul", {"scale", "x"}, "same");
  net.node("Relu", {"same"}, "y");
  EXPECT_THAT(one_node(net, {2, 3, 5}), ElementsAre("y relu 3x1x1x5 < x"));
  Model trained(18);
  trained.weight("w", {1}, {1});
  trained.node("Mul", {"x", "w"}, "y");
  EXPECT_EQ(said([&] {
              one_node(trained, {2, 3, 5});
            }),
            "net.onnx: node y (Mul): allowed: of shapes, of what depends on the network's input, "
            "and in 0.5 x (1 + Erf(x / sqrt(2)))");
}

// In training form: Div(CastLike(Less(RandomUniformLike(...), keep)), keep).
void add_draws(Model& net, const Dims& dims) {
  net.constant("keep", 0.8F).integers("dims", dims);
  net.node("ConstantOfShape", {"dims"}, "like");
  net.node("RandomUniformLike", {"like"}, "drawn")("low", 0.0)("high", 1.0);
  net.node("Less", {"drawn", "keep"}, "mask");
  net.node("CastLike", {"mask", "x"}, "passes");
  net.node("Div", {"passes", "keep"}, "scaled");
  net.node("Mul", {"x", "scaled"}, "y");
}

TEST(OnnxPytorch, ADropoutMaySpellItsDraws) {
  Model net(20);
  add_draws(net, {2, 3, 5});
  EXPECT_THAT(one_node(net, {2, 3, 5}), ElementsAre("y dropout 3x1x1x5 < x"));
  const Graph graph = net.read().graph;
  EXPECT_EQ(std::get<Dropout>(graph.layers()[1].op).probability, 0.2);
}

TEST(OnnxPytorch, ADrawForAWholeSampleIsNoDropout) {
  Model net(20);
  add_draws(net, {2, 1, 1});
  EXPECT_EQ(said([&] {
              one_node(net, {2, 3, 5});
            }),
            "net.onnx: node y (Mul): what passes is drawn at random; allowed: for each element, as "
            "in dropout");
}

TEST(OnnxPytorch, DrawsThatAreNotFromZeroToOneAreNoDropout) {
  for (const auto& [end, value] : {std::pair{"low", -1.0}, std::pair{"high", 2.0}}) {
    Model net(20);
    add_draws(net, {2, 3, 5});
    for (auto& node : *net.graph().mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.name() == end) attribute.set_f(static_cast<float>(value));
      }
    }
    EXPECT_NE(said([&] { one_node(net, {2, 3, 5}); }), "") << end;
  }
}

// Of another domain, or with a graph: it may have any number of inputs.
TEST(OnnxPytorch, WhatIsNamedLikeAPartOfADropoutIsNone) {
  const auto read = [](const auto& change) {
    Model net(20);
    change(net.node("Div", {}, "scaled").proto());
    net.node("Mul", {"x", "scaled"}, "y");
    return said([&] { one_node(net, {2, 3, 5}); });
  };
  EXPECT_NE(read([](onnx::NodeProto& node) { node.set_domain("foo"); }), "");
  EXPECT_NE(read([](onnx::NodeProto& node) {
              auto& attribute = *node.add_attribute();
              attribute.set_name("body");
              attribute.set_type(onnx::AttributeProto::GRAPH);
              attribute.mutable_g()->set_name("inner");
            }),
            "");
}

// CastLike is younger than opset 13.
TEST(OnnxPytorch, ACastOfNothingIsAnError) {
  Model net(13);
  net.node("CastLike", {}, "y");
  EXPECT_NE(said([&] { one_node(net, {2, 3, 5}); }), "");
}

TEST(OnnxPytorch, LayersAreNamedAfterTheirModules) {
  Model net(20);
  net.weight("features.0.weight", {4, 3, 1, 1});
  auto conv = net.node("Conv", {"x", "features.0.weight"}, "getitem");
  add_scopes(conv.proto(), "['', 'features', 'features.1', 'batch_norm']");
  auto relu = net.node("Relu", {"getitem"}, "relu");
  add_scopes(relu.proto(), "['', 'features', 'features.2', 'relu']");
  auto end = net.node("Relu", {"relu"}, "y");
  add_scopes(end.proto(), "['', 'relu_1']");
  EXPECT_THAT(one_node(net, {2, 3, 5, 5}),
              ElementsAre("features_0_Conv conv2d 4x1x5x5 +12 < x",
                          "features_2_Relu relu 4x1x5x5 < features_0_Conv",
                          "y relu 4x1x5x5 < features_2_Relu"));
}

TEST(OnnxPytorch, AnOpThatNobodyKnowsHasTheShapeThatTheFileSays) {
  const auto read = [](const char* batch) {
    Model net(20);
    net.node("DeformConv", {"x", "w", "offsets"}, "deformed");
    net.node("Relu", {"deformed"}, "y");
    net.weight("w", {4, 3, 1, 1});
    net.weight("offsets", {2});
    auto& value = *net.graph().add_value_info();
    value.set_name("deformed");
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_param(batch);
    for (const int dim : {4, 5, 5}) type.mutable_shape()->add_dim()->set_dim_value(dim);
    net.input("x", {0, 3, 5, 5}).output("y");
    return lines(
        parse_onnx(net.bytes(), "net.onnx", 2, OnnxWeights::skip, OnnxUnsupported::opaque).graph);
  };
  EXPECT_THAT(read("batch"), ElementsAre("x input 3x1x5x5", "deformed opaque 4x1x5x5 +14 < x",
                                         "y relu 4x1x5x5 < deformed"));
  EXPECT_EQ(said([&] { read("other"); }),
            "net.onnx: node deformed (DeformConv): the shape of its output 0 is not known");
}

// Some exporters write -1 or 0 where any number may stand: first for the batch.
std::vector<std::string> deformed(std::int64_t batch, const Dims& dims) {
  Model net(20);
  net.node("DeformConv", {"x", "w", "offsets"}, "deformed");
  net.node("Relu", {"deformed"}, "y");
  net.weight("w", {4, 3, 1, 1});
  net.weight("offsets", {2});
  auto& value = *net.graph().add_value_info();
  value.set_name("deformed");
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) type.mutable_shape()->add_dim()->set_dim_value(dim);
  net.input("x", {1, 3, 5, 5}).output("y");
  auto& input = *net.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  input.mutable_shape()->mutable_dim(0)->set_dim_value(batch);
  return lines(
      parse_onnx(net.bytes(), "net.onnx", 2, OnnxWeights::skip, OnnxUnsupported::opaque).graph);
}

TEST(OnnxPytorch, AnOpenBatchMayBeANumberThatIsNone) {
  for (const std::int64_t batch : {-1, 0}) {
    EXPECT_THAT(deformed(batch, {batch, 4, 5, 5}),
                ElementsAre("x input 3x1x5x5", "deformed opaque 4x1x5x5 +14 < x",
                            "y relu 4x1x5x5 < deformed"));
  }
}

TEST(OnnxPytorch, OtherDimsOfZeroAndMinusOneAreNotKnown) {
  constexpr const char* kUnknown =
      "net.onnx: node deformed (DeformConv): the shape of its output 0 is not known";
  for (const std::int64_t open : {-1, 0}) {
    EXPECT_EQ(said([&] { deformed(2, {open, 4, 5, 5}); }), kUnknown);
    EXPECT_EQ(said([&] { deformed(-1, {open, 4, open, 5}); }), kUnknown);
  }
}

// A batch of ours is 7 unless something else is: as a first dim, 7 would pass for it.
TEST(OnnxPytorch, WhatTheFileSaysIsNoStandInForTheBatch) {
  EXPECT_NE(said([&] { deformed(0, {7, 4, 5, 5}); }), "");
}

// QuantizeLinear has a block size since opset 21, and any float's type for its scale since 19;
// ONNX's library knows 17.
TEST(OnnxPytorch, AnOpThatHasChangedHasTheShapeThatTheFileSays) {
  const auto read = [](int opset, bool blocks, int scale) {
    Model net(opset);
    net.weight("scale", {1}).set_data_type(scale);
    auto quantized = net.node("QuantizeLinear", {"x", "scale"}, "quantized");
    if (blocks) quantized("block_size", 0);
    net.node("Relu", {"quantized"}, "y");
    auto& value = *net.graph().add_value_info();
    value.set_name("quantized");
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::UINT8);
    for (const int dim : {2, 3, 5}) type.mutable_shape()->add_dim()->set_dim_value(dim);
    net.input("x", {2, 3, 5}).output("y");
    return lines(
        parse_onnx(net.bytes(), "net.onnx", 2, OnnxWeights::skip, OnnxUnsupported::opaque).graph);
  };
  const auto opaque =
      ElementsAre("x input 3x1x1x5", "quantized opaque 3x1x1x5 < x", "y relu 3x1x1x5 < quantized");
  EXPECT_THAT(read(21, true, onnx::TensorProto::FLOAT), opaque);
  EXPECT_THAT(read(19, false, onnx::TensorProto::FLOAT16), opaque);
  EXPECT_THAT(said([&] { read(17, true, onnx::TensorProto::FLOAT); }),
              StartsWith("net.onnx: node quantized (QuantizeLinear): ONNX's checker says: "));
  EXPECT_THAT(
      said([&] { read(17, false, onnx::TensorProto::FLOAT16); }),
      StartsWith("net.onnx: node quantized (QuantizeLinear): ONNX's shape inference says: "));
}

}  // namespace
}  // namespace strata
