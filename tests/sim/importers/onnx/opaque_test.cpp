// What is not read here, where it may be opaque: any op, as the bytes that it moves.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Attributes;
using testing::Dims;
using ::testing::ElementsAre;
using testing::lines;
using testing::Model;

OnnxModel opaque(const Model& net) {
  return parse_onnx(net.bytes(), "net.onnx", 2, OnnxWeights::skip, OnnxUnsupported::opaque);
}

std::vector<std::string> opaque_lines(Model& net, const Dims& dims) {
  net.input("x", dims).output("y");
  std::vector<std::string> result = lines(opaque(net).graph);
  result.erase(result.begin());
  return result;
}

std::string kind(const Graph& graph, std::string_view layer) {
  return std::get<Opaque>(graph[graph.find(layer)].op).kind;
}

// A transposed convolution: (2 - 1) 4 + ... of 4 rows with stride 2 and a kernel of 2 are 8.
TEST(OnnxOpaque, AnOpWithoutAReaderHasItsShapeAndParameters) {
  Model net;
  net.weight("w", {3, 5, 2, 2});
  net.weight("b", {5});
  net.node("ConvTranspose", {"x", "w", "b"}, "up")("strides", Dims{2, 2});
  net.node("Relu", {"up"}, "y");
  EXPECT_THAT(opaque_lines(net, {0, 3, 4, 4}),
              ElementsAre("up opaque 5x1x8x8 +65 < x", "y relu 5x1x8x8 < up"));
  EXPECT_EQ(kind(opaque(net).graph, "up"), "ConvTranspose");
  EXPECT_THAT(opaque(net).notes,
              ::testing::Contains("op ConvTranspose is opaque: its cost is that of the bytes that "
                                  "it moves and of the product that its shapes tell of"));
  EXPECT_EQ(said([&] { net.read(); }),
            "net.onnx: op ConvTranspose is not supported: 1 node (up); allowed: to predict, with "
            "`allow_unsupported`");
}

std::int64_t all_macs(const Graph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) sum += macs(graph, LayerId(i));
  return sum / graph.batch();
}

const Opaque& opaque_layer(const Graph& graph, std::string_view layer) {
  return std::get<Opaque>(graph[graph.find(layer)].op);
}

// As the file says it, where inference does not know it.
void declare(Model& net, const std::string& name, const Dims& dims) {
  auto& value = *net.graph().add_value_info();
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) {
    auto& added = *type.mutable_shape()->add_dim();
    dim > 0 ? added.set_dim_value(dim) : added.set_dim_param("batch");
  }
}

// 16 tokens of 64 features, three products: what stands before them, as in a network that scales
// its embeddings (Gemma), changes neither what they are nor how much they compute.
TEST(OnnxOpaque, WhatStandsBeforeProductsDoesNotLoseThem) {
  const std::int64_t expected = 16 * (64 * 256 + 256 * 64 + 64 * 100);
  for (const std::string before : {"", "Mul", "Einsum"}) {
    SCOPED_TRACE(before);
    Model net;
    net.input("ids", {0, 16}).output("y");
    net.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::INT64);
    net.weight("table", {100, 64});
    net.weight("u", {64, 256});
    net.weight("v", {256, 64});
    net.weight("w", {64, 100});
    net.node("Gather", {"table", "ids"}, "words");
    if (before == "Mul") net.constant("eight", 8).node("Mul", {"words", "eight"}, "scaled");
    if (before == "Einsum") {
      net.node("Einsum", {"words", "words"}, "scaled")("equation", "abc,abc->abc");
      declare(net, "scaled", {0, 16, 64});
    }
    net.node("MatMul", {before.empty() ? "words" : "scaled", "u"}, "wide");
    net.node("MatMul", {"wide", "v"}, "narrow");
    net.node("MatMul", {"narrow", "w"}, "y");
    const Graph graph = opaque(net).graph;
    EXPECT_EQ(all_macs(graph), expected);
    EXPECT_THAT(lines(graph), ::testing::Contains(::testing::HasSubstr("wide linear")));
  }
}

// Each of these products is refused by its reader, and still costs what its shapes say.
TEST(OnnxOpaque, AProductThatIsNotReadIsCounted) {
  const auto counted = [](const char* op, const Dims& x, const Dims& w, const auto& more) {
    Model net;
    net.weight("w", w);
    more(net.node(op, {"x", "w"}, "y"));
    net.input("x", x).output("y");
    const Graph graph = opaque(net).graph;
    EXPECT_FALSE(opaque_layer(graph, "y").uncosted) << op;
    return std::pair(all_macs(graph), opaque_layer(graph, "y").columns);
  };
  const auto nothing = [](const Attributes&) {};
  EXPECT_EQ(counted("MatMul", {0, 3, 2, 4}, {4, 6}, nothing), std::pair(3L * 2 * 4 * 6, 6L));
  EXPECT_EQ(counted("Gemm", {0, 4}, {4, 6}, [](const Attributes& a) { a("alpha", 0.5); }),
            std::pair(4L * 6, 6L));
  // Each of 3 x 4 x 4 elements goes to 5 x 2 x 2 others.
  EXPECT_EQ(counted("ConvTranspose", {0, 3, 4, 4}, {3, 5, 2, 2},
                    [](const Attributes& a) {
                      a("strides", Dims{2, 2});
                    }),
            std::pair(3L * 4 * 4 * 5 * 2 * 2, 5L));
}

// As weights that are standardised: no numbers of the file, but its shapes are known.
TEST(OnnxOpaque, AConvolutionByComputedWeightsIsCounted) {
  Model net;
  net.weight("v", {8, 3, 3, 3});
  net.weight("mean", {8, 1, 1, 1});
  net.node("Sub", {"v", "mean"}, "w");
  net.node("Conv", {"x", "w"}, "y")("pads", Dims{1, 1, 1, 1});
  net.input("x", {0, 3, 4, 4}).output("y");
  const Graph graph = opaque(net).graph;
  EXPECT_EQ(all_macs(graph), 8 * 4 * 4 * 3 * 3 * 3);
}

TEST(OnnxOpaque, WhatNobodyKnowsTheArithmeticOfSaysSo) {
  Model net;
  net.node("Einsum", {"x", "x"}, "e")("equation", "abc,abd->abd");
  declare(net, "e", {0, 3, 4});
  net.node("Abs", {"e"}, "y");
  net.input("x", {0, 3, 4}).output("y");
  const OnnxModel read = opaque(net);
  EXPECT_TRUE(opaque_layer(read.graph, "e").uncosted);
  EXPECT_FALSE(opaque_layer(read.graph, "y").uncosted);
  EXPECT_THAT(read.notes,
              ::testing::Contains("op Einsum is opaque: its cost is that of the bytes that it "
                                  "moves, for how much it computes is not known"));
}

TEST(OnnxOpaque, ResizesScalesAreNoParameters) {
  Model net;
  net.weight("scales", {4}, {1, 1, 2, 2});
  net.node("Resize", {"x", "", "scales"}, "y")("mode", "linear");
  EXPECT_THAT(opaque_lines(net, {1, 3, 4, 4}), ElementsAre("y opaque 3x1x8x8 < x"));
}

TEST(OnnxOpaque, AResizeNeedsNoPermission) {
  Model net;
  net.weight("twice", {4}, {1, 1, 2, 2});
  net.weight("once", {4}, {1, 1, 1, 1});
  net.node("Resize", {"x", "", "twice"}, "large");
  net.node("Resize", {"large", "", "once"}, "same");
  net.node("Relu", {"same"}, "y");
  net.input("x", {1, 3, 4, 4}).output("y");
  EXPECT_THAT(lines(net.read().graph),
              ElementsAre("x input 3x1x4x4", "large opaque 3x1x8x8 < x", "y relu 3x1x8x8 < large"));
}

TEST(OnnxOpaque, ScalesThatAreNoneAreErrors) {
  const auto resized = [](float scale) {
    Model net;
    net.weight("scales", {4}, {1, 1, scale, 2});
    net.node("Resize", {"x", "", "scales"}, "y");
    return said([&] { opaque_lines(net, {1, 3, 4, 4}); });
  };
  EXPECT_EQ(resized(2), "");
  EXPECT_EQ(resized(2e6F),
            "net.onnx: node y (Resize): its scale is 2000000; allowed: 0 to 1048576");
  EXPECT_EQ(resized(0), "net.onnx: node y (Resize): height extent 0 is not in 1 ... 2147483648");
  EXPECT_EQ(resized(INFINITY),
            "net.onnx: node y (Resize): element 2 is inf; allowed: finite numbers of float32");
}

// Mul has a reader, which refuses a map of one column for four.
TEST(OnnxOpaque, SoIsAKnownOpInAFormThatIsNotRead) {
  Model net;
  net.weight("w", {3, 3, 1, 4});
  net.node("Conv", {"x", "w"}, "map");
  net.node("Mul", {"x", "map"}, "y");
  EXPECT_THAT(opaque_lines(net, {0, 3, 4, 4}),
              ElementsAre("map conv2d 3x1x4x1 +36 < x", "y opaque 3x1x4x4 < x, map"));
  EXPECT_EQ(said([&] { net.read(); }),
            "net.onnx: node y (Mul): multiply takes a second input of 3 x 1 x 4 x 4 or, as a gate, "
            "3 x 1 x 1 x 1 or 1 x 1 x 4 x 4, not 3 x 1 x 4 x 1");
}

// An Add is of equal shapes, which the layer that was tried found out too late.
TEST(OnnxOpaque, WhatIsRefusedKeepsItsName) {
  Model net;
  net.node("GlobalAveragePool", {"x"}, "mean");
  net.node("Add", {"x", "mean"}, "y");
  EXPECT_THAT(opaque_lines(net, {0, 3, 4, 4}),
              ElementsAre("mean adaptive_avg_pool2d 3x1x1x1 < x", "y opaque 3x1x4x4 < x, mean"));
}

TEST(OnnxOpaque, WhatANodeReadsTwiceItMovesOnce) {
  Model net;
  net.node("Div", {"x", "x"}, "y");
  EXPECT_THAT(opaque_lines(net, {0, 3, 4, 4}), ElementsAre("y opaque 3x1x4x4 < x"));
}

TEST(OnnxOpaque, EachOutputThatIsReadIsALayer) {
  Model net;
  auto& split = net.node("Split", {"x"}, "left")("axis", 1).proto();
  split.add_output("middle");
  split.add_output("right");
  net.node("Concat", {"right", "left"}, "y")("axis", 1);
  EXPECT_THAT(opaque_lines(net, {0, 6, 4}),
              ElementsAre("left opaque 2x1x1x4 < x", "left_2 opaque 2x1x1x4 < x",
                          "y concat 4x1x1x4 < left_2, left"));
}

// The pooling is one; the places of its maxima come with another.
TEST(OnnxOpaque, SoIsAnotherOutputOfAnOpThatIsRead) {
  Model net;
  net.node("MaxPool", {"x"}, "pool")("kernel_shape", Dims{2, 2})("strides", Dims{2, 2})
      .proto()
      .add_output("places");
  net.node("MaxUnpool", {"pool", "places"}, "y")("kernel_shape", Dims{2, 2})("strides", Dims{2, 2});
  EXPECT_THAT(opaque_lines(net, {0, 3, 4, 4}),
              ElementsAre("pool max_pool2d 3x1x2x2 < x", "pool_2 opaque 3x1x2x2 < x",
                          "y opaque 3x1x4x4 < pool, pool_2"));
}

// The Add is the product's bias no more.
TEST(OnnxOpaque, AProductThatIsNotReadGivesItsAddBack) {
  Model net;
  net.weight("w", {4, 6});
  net.weight("b", {6});
  net.node("MatMul", {"x", "w"}, "p");
  net.node("Add", {"p", "b"}, "y");
  EXPECT_THAT(opaque_lines(net, {0, 3, 2, 4}),
              ElementsAre("p opaque 3x1x2x6 +24 < x", "y opaque 3x1x2x6 +6 < p"));
}

TEST(OnnxOpaque, OpsOnConstantsAloneAreNoLayers) {
  Model net;
  net.weight("w", {4});
  net.node("Abs", {"w"}, "positive");
  net.node("Mul", {"x", "positive"}, "y");
  EXPECT_THAT(opaque_lines(net, {0, 3, 4}), ElementsAre("y opaque 3x1x1x4 < x"));
}

// Its scale and bias are its layer's already, and its mean and variance no parameters.
TEST(OnnxOpaque, BatchNormsRunningMeanIsNoLayer) {
  for (const std::int64_t batch : {0, 7}) {
    Model net(14);
    for (const char* name : {"scale", "bias", "mean", "variance"}) net.weight(name, {7});
    auto& norm =
        net.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, "y").proto();
    Attributes{norm}("training_mode", 1);
    norm.add_output("new_mean");
    norm.add_output("new_variance");
    net.input("x", {batch, 7, 4, 4}).output("y").output("new_mean");
    EXPECT_EQ(said([&] { opaque(net); }),
              "net.onnx: node y (BatchNormalization): its output 1 is a statistic of the channels; "
              "allowed: the first");
  }
}

// Over the rows and columns, too, it is none that is read.
TEST(OnnxOpaque, BatchNormsParametersAreTwo) {
  Model net(7);
  for (const char* name : {"scale", "bias", "mean", "variance"}) net.weight(name, {3});
  net.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, "y")("spatial", 0);
  EXPECT_THAT(opaque_lines(net, {0, 3, 4, 4}), ElementsAre("y opaque 3x1x4x4 +6 < x"));
}

// Of 7 samples a product of 7 rows by 7 columns would be one of (n, 7).
TEST(OnnxOpaque, ASymbolicBatchIsNoDimOfTheFile) {
  Model net;
  net.weight("w", {7, 7});
  net.weight("v", {11, 7});
  net.node("ReduceSum", {"x"}, "all")("keepdims", 0);
  net.node("Mul", {"all", "w"}, "y");
  net.input("x", {0, 13}).output("y");
  EXPECT_EQ(said([&] { opaque(net); }),
            "net.onnx: node all (ReduceSum): its output 0 is () for a batch of 17; allowed: (n, "
            "...), of up to five dims");
}

TEST(OnnxOpaque, AShapeThatIsNotKnownIsAnError) {
  const auto text = [](const char* op, const testing::Names& inputs, const Dims& dims) {
    Model net;
    net.node(op, inputs, "a");
    net.input("x", dims).output("a");
    return said([&] { opaque(net); });
  };
  EXPECT_EQ(text("NonZero", {"x"}, {2, 3}),
            "net.onnx: node a (NonZero): the shape of its output 0 is not known");
  EXPECT_EQ(text("Det", {"x"}, {2, 3, 4, 4}), "");
  EXPECT_EQ(text("Size", {"x"}, {2, 3}), "net.onnx: output 'a' does not depend on the data");
}

TEST(OnnxOpaque, OpsOfOthersAndThoseWithGraphsStayErrors) {
  Model net;
  net.node("Magic", {"x"}, "a").proto().set_domain("com.example");
  auto& branch = *net.node("If", {"a"}, "y").proto().add_attribute();
  branch.set_name("then_branch");
  branch.set_type(onnx::AttributeProto::GRAPH);
  branch.mutable_g()->set_name("then");
  net.input("x", {1, 3}).output("y");
  EXPECT_EQ(said([&] { opaque(net); }),
            "net.onnx: op If is not supported: 1 node (y)\n"
            "net.onnx: op com.example.Magic is not supported: 1 node (a)");
}

}  // namespace
}  // namespace strata
