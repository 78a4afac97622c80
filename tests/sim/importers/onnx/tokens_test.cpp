// Networks of tokens, (n, w, c): products of each token, attention and its masks, positions.

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using ::testing::Contains;
using testing::Dims;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines;
using testing::Model;

template <class T>
T kind_of(const Graph& graph, std::string_view layer) {
  return std::get<T>(graph[graph.find(layer)].op);
}

// Numbers of 3 tokens, and their vectors of 4 channels.
Model words(int opset = 17) {
  Model net(opset);
  net.input("x", {0, 3});
  net.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::INT64);
  net.weight("table", {7, 4});
  net.node("Gather", {"table", "x"}, "words");
  return net;
}

void add_heads(Model& net, const std::string& from, const std::string& to, const Dims& order) {
  net.integers(to + "_shape", {0, 3, 2, 2});
  net.node("Reshape", {from, to + "_shape"}, to + "_heads");
  net.node("Transpose", {to + "_heads"}, to)("perm", order);
}

// One product for queries, keys and values, in two heads of two channels, up to the scores.
Model scored(int opset = 17) {
  Model net = words(opset);
  net.weight("w", {4, 12});
  net.weight("b", {12});
  net.node("MatMul", {"words", "w"}, "all");
  net.node("Add", {"b", "all"}, "sum");
  net.integers("parts", {4, 4, 4});
  auto& split = net.node("Split", {"sum", "parts"}, "first")("axis", 2).proto();
  split.add_output("second");
  split.add_output("third");
  add_heads(net, "first", "q", {0, 2, 1, 3});
  add_heads(net, "second", "k", {0, 2, 3, 1});
  add_heads(net, "third", "v", {0, 2, 1, 3});
  net.node("MatMul", {"q", "k"}, "scores");
  return net;
}

Model attended(Model net, const std::string& scores, bool drops = false) {
  net.node("Softmax", {scores}, drops ? "weights" : "seen")("axis", -1);
  if (drops) net.node("Dropout", {"weights", "ratio"}, "seen");
  net.node("MatMul", {"seen", "v"}, "heads");
  net.node("Transpose", {"heads"}, "tokens")("perm", Dims{0, 2, 1, 3});
  net.integers("flat", {0, 3, 4});
  net.node("Reshape", {"tokens", "flat"}, "together");
  net.node("Relu", {"together"}, "y");
  net.output("y");
  return net;
}

Model scaled(float by = std::sqrt(2.0F)) {
  Model net = scored();
  net.constant("root", by);
  net.node("Div", {"scores", "root"}, "scaled");
  return net;
}

// What is added to the scores, of 3 queries by 3 keys.
Model masked(const std::vector<float>& mask) {
  Model net = scaled();
  net.weight("mask", {1, 1, 3, 3}, mask);
  net.node("Add", {"scaled", "mask"}, "masked");
  return attended(std::move(net), "masked");
}

TEST(OnnxTokens, AFusedProductIsThreeLayersOfItsRows) {
  const OnnxModel model = attended(scaled(), "scaled").read(2, OnnxWeights::read);
  EXPECT_THAT(
      lines(model.graph),
      ElementsAre("x input 1x1x1x3", "words embedding 4x1x1x3 +28 < x",
                  "all_query linear 4x1x1x3 +20 < words", "all_key linear 4x1x1x3 +20 < words",
                  "all_value linear 4x1x1x3 +20 < words",
                  "heads attention 4x1x1x3 < all_query, all_key, all_value",
                  "y relu 4x1x1x3 < heads", "loss softmax_cross_entropy 4x1x1x3 < y"));
  // Column 4 of w, 4 16 28 40, and element 4 of b.
  const std::vector<float>& keys = model.weights[3];
  EXPECT_THAT(std::vector<float>(keys.begin(), keys.begin() + 4), ElementsAre(4, 16, 28, 40));
  EXPECT_EQ(keys[16], 4);
  EXPECT_EQ(kind_of<Attention>(model.graph, "heads"), (Attention{2, false, 0, 0}));
}

// Rows of heads, each with its query, key and value: those of a head are 6 apart.
TEST(OnnxTokens, AFusedProductMayHaveItsPartsInEachHead) {
  Model net = words();
  net.weight("w", {4, 12});
  net.node("MatMul", {"words", "w"}, "all");
  net.integers("shape", {0, 3, 2, 3, 2});
  net.node("Reshape", {"all", "shape"}, "heads_first");
  for (const auto& [index, name] : {std::pair(0, "q"), std::pair(1, "k"), std::pair(2, "v")}) {
    const std::string at = std::string("at_") + name, part = std::string("part_") + name;
    net.integers(at, {index});
    net.node("Gather", {"heads_first", at}, part)("axis", 3);
    net.integers(part + "_shape", {0, 3, 2, 2});
    net.node("Reshape", {part, part + "_shape"}, part + "_heads");
    const Dims order = index == 1 ? Dims{0, 2, 3, 1} : Dims{0, 2, 1, 3};
    net.node("Transpose", {part + "_heads"}, name)("perm", order);
  }
  net.node("MatMul", {"q", "k"}, "scores");
  net.constant("root", std::sqrt(2.0F));
  net.node("Div", {"scores", "root"}, "scaled");
  const OnnxModel model = attended(std::move(net), "scaled").read(2, OnnxWeights::read);
  EXPECT_THAT(lines(model.graph), Contains("all_key linear 4x1x1x3 +16 < words"));
  // Columns 2, 3, 8 and 9 of w.
  const std::vector<float>& keys = model.weights[3];
  EXPECT_THAT(std::vector<float>({keys[0], keys[4], keys[8], keys[12]}), ElementsAre(2, 3, 8, 9));
}

constexpr float kNone = -std::numeric_limits<float>::infinity();

TEST(OnnxTokens, AMaskOfTheFutureIsCausal) {
  const Graph graph = masked({0, kNone, kNone, 0, 0, kNone, 0, 0, 0}).read().graph;
  EXPECT_EQ(kind_of<Attention>(graph, "heads"), (Attention{2, true, 0, 0}));
}

TEST(OnnxTokens, AMaskOfTheDistantPastToo) {
  const Graph graph = masked({0, -1e9F, -1e9F, 0, 0, -1e9F, -1e9F, 0, 0}).read().graph;
  EXPECT_EQ(kind_of<Attention>(graph, "heads"), (Attention{2, true, 2, 0}));
}

TEST(OnnxTokens, AMaskThatHidesNothingIsNone) {
  const Graph graph = masked({0, 0, 0, 0, 0, 0, 0, 0, 0}).read().graph;
  EXPECT_EQ(kind_of<Attention>(graph, "heads"), (Attention{2, false, 0, 0}));
}

TEST(OnnxTokens, OtherMasksAreErrors) {
  EXPECT_EQ(said([] {
              masked({0, 0, kNone, 0, 0, 0, 0, 0, 0}).read();
            }),
            "net.onnx: node masked (Add): its mask is neither causal nor empty; allowed: each "
            "position sees all, or itself and those before it, or so many of them");
  EXPECT_EQ(said([] {
              masked({0, -1, -1, 0, 0, -1, 0, 0, 0}).read();
            }),
            "net.onnx: node masked (Add): its mask adds -1; allowed: 0, or at most -10000");
}

TEST(OnnxTokens, ATruthMayChooseTheScores) {
  Model net = scaled();
  net.weight("ones", {3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  net.node("Trilu", {"ones"}, "lower")("upper", 0);
  net.node("Cast", {"lower"}, "sees")("to", onnx::TensorProto::BOOL);
  net.constant("none", -1e30F);
  net.node("Where", {"sees", "scaled", "none"}, "masked");
  const Graph graph = attended(std::move(net), "masked").read().graph;
  EXPECT_EQ(kind_of<Attention>(graph, "heads"), (Attention{2, true, 0, 0}));
}

TEST(OnnxTokens, AnotherScaleIsTheAttentions) {
  const Graph graph = attended(scaled(2), "scaled").read().graph;
  EXPECT_EQ(kind_of<Attention>(graph, "heads"), (Attention{.head_size = 2, .scale = 0.5}));
}

TEST(OnnxTokens, AScaleThatIsNotPositiveIsAnError) {
  EXPECT_EQ(said([] { attended(scaled(-2), "scaled").read(); }),
            "net.onnx: node heads (MatMul): its scale is -0.5, and 1 of its values; allowed: a "
            "positive one, and 1");
}

TEST(OnnxTokens, ADropoutBehindTheSoftmaxIsTheAttentions) {
  Model net = scaled();
  net.constant("ratio", 0.2F);
  const Graph graph = attended(std::move(net), "scaled", true).read().graph;
  const auto op = std::get<Attention>(graph.layers()[5].op);
  EXPECT_EQ(op.dropout, 0.2);
}

TEST(OnnxTokens, ADropoutBeforeTheSoftmaxIsAnError) {
  Model net = scaled();
  net.constant("ratio", 0.2F);
  net.node("Dropout", {"scaled", "ratio"}, "dropped");
  EXPECT_EQ(said([&] { attended(std::move(net), "dropped").read(); }),
            "net.onnx: node dropped (Dropout): a dropout of an attention's scores before their "
            "softmax; allowed: one, behind it");
}

TEST(OnnxTokens, ScoresThatNothingNormalisesAreAnError) {
  Model net = scaled();
  net.node("MatMul", {"scaled", "v"}, "y");
  net.output("y");
  EXPECT_EQ(said([&] { net.read(); }),
            "net.onnx: node y (MatMul): its scores have no Softmax; allowed: one");
}

// Of opset 23, whose inputs may be (n, w, c), with fewer heads of keys.
TEST(OnnxTokens, AttentionIsAnOpOfItsOwn) {
  Model net = words(23);
  net.weight("wq", {4, 4});
  net.weight("wk", {4, 2});
  net.node("MatMul", {"words", "wq"}, "q");
  net.node("MatMul", {"words", "wk"}, "k");
  net.node("Attention", {"q", "k", "k"}, "seen")("q_num_heads", 2)("kv_num_heads", 1)("is_causal",
                                                                                      1);
  net.node("Relu", {"seen"}, "y");
  const Graph graph = net.output("y").read().graph;
  EXPECT_THAT(lines(graph), Contains("seen attention 4x1x1x3 < q, k, k"));
  EXPECT_EQ(kind_of<Attention>(graph, "seen"), (Attention{2, true, 0, 0}));
}

TEST(OnnxTokens, PositionsAreRowsOfAConstant) {
  Model net = words();
  net.weight("places", {5, 4});
  net.integers("numbers", {0, 1, 2});
  net.node("Gather", {"places", "numbers"}, "rows");
  net.node("Add", {"words", "rows"}, "placed");
  net.node("Relu", {"placed"}, "y");
  const OnnxModel model = net.output("y").read(2, OnnxWeights::read);
  EXPECT_THAT(lines(model.graph), Contains("placed position_embedding 4x1x1x3 +20 < words"));
  // By channel: the first one's of the five positions.
  const std::vector<float>& places = model.weights[2];
  EXPECT_THAT(std::vector<float>(places.begin(), places.begin() + 5), ElementsAre(0, 4, 8, 12, 16));
}

TEST(OnnxTokens, NumbersOfTypesAreDataHere) {
  Model net = words();
  net.weight("types.weight", {2, 4});
  net.integers("numbers", {0, 0, 0});
  net.node("Gather", {"types.weight", "numbers"}, "rows");
  net.node("Add", {"words", "rows"}, "typed");
  net.node("Relu", {"typed"}, "y");
  const OnnxModel model = net.output("y").read();
  EXPECT_THAT(
      lines(model.graph),
      ElementsAre("x input 1x1x1x3", "words embedding 4x1x1x3 +28 < x", "token_types input 1x1x1x3",
                  "types embedding 4x1x1x3 +8 < token_types", "typed add 4x1x1x3 < words, types",
                  "y relu 4x1x1x3 < typed", "loss softmax_cross_entropy 4x1x1x3 < y"));
  EXPECT_THAT(model.notes, Contains(HasSubstr("here they are data, input token_types")));
}

TEST(OnnxTokens, AHeadMayHaveTheWordsWeight) {
  Model net = words();
  net.node("Transpose", {"table"}, "turned")("perm", Dims{1, 0});
  net.node("MatMul", {"words", "turned"}, "y");
  const Graph graph = net.output("y").read().graph;
  EXPECT_EQ(kind_of<Linear>(graph, "y"), (Linear{7, false, "words"}));
  EXPECT_EQ(graph.parameters(), 28);
}

TEST(OnnxTokens, PatchesAClassTokenAndItsSelection) {
  Model net(17);
  net.input("x", {0, 3, 4, 4});
  net.weight("w", {4, 3, 2, 2});
  net.node("Conv", {"x", "w"}, "patches")("strides", Dims{2, 2});
  net.integers("flat", {0, 4, 4});
  net.node("Reshape", {"patches", "flat"}, "row");
  net.node("Transpose", {"row"}, "tokens")("perm", Dims{0, 2, 1});
  net.weight("class", {1, 1, 4});
  net.node("Shape", {"tokens"}, "count")("end", 1);
  net.integers("rest", {1, 4});
  net.node("Concat", {"count", "rest"}, "spread")("axis", 0);
  net.node("Expand", {"class", "spread"}, "classes");
  net.node("Concat", {"classes", "tokens"}, "all")("axis", 1);
  net.integers("numbers", {0});
  net.node("Gather", {"all", "numbers"}, "first")("axis", 1);
  net.integers("one", {1});
  net.node("Squeeze", {"first", "one"}, "vector");
  net.node("Relu", {"vector"}, "y");
  EXPECT_THAT(
      lines(net.output("y").read().graph),
      ElementsAre("x input 3x1x4x4", "patches conv2d 4x1x2x2 +48 < x",
                  "tokens tokens 4x1x1x4 < patches", "all class_token 4x1x1x5 +4 < tokens",
                  "select_token select_token 4x1x1x1 < all", "y relu 4x1x1x1 < select_token",
                  "loss softmax_cross_entropy 4x1x1x1 < y"));
}

// Mean, difference, square, mean, epsilon, root, quotient, scale, shift.
TEST(OnnxTokens, ALayerNormMayBeSpelledOut) {
  Model net = words(13);
  net.constant("two", 2).constant("epsilon", 1e-6F);
  net.weight("scale", {4});
  net.weight("shift", {4});
  net.node("ReduceMean", {"words"}, "mean")("axes", Dims{-1});
  net.node("Sub", {"words", "mean"}, "rest");
  net.node("Pow", {"rest", "two"}, "squares");
  net.node("ReduceMean", {"squares"}, "variance")("axes", Dims{-1});
  net.node("Add", {"variance", "epsilon"}, "more");
  net.node("Sqrt", {"more"}, "deviation");
  net.node("Div", {"rest", "deviation"}, "unit");
  net.node("Mul", {"unit", "scale"}, "scaled");
  net.node("Add", {"scaled", "shift"}, "normal");
  net.node("Relu", {"normal"}, "y");
  const Graph graph = net.output("y").read().graph;
  EXPECT_THAT(lines(graph), Contains("mean layer_norm 4x1x1x3 +8 < words"));
  EXPECT_EQ(kind_of<LayerNorm>(graph, "mean"), (LayerNorm{1e-6, true}));
}

TEST(OnnxTokens, AnRmsNormAndASwigluToo) {
  Model net = words();
  net.constant("two", 2).constant("epsilon", 1e-6F);
  net.weight("scale", {4});
  net.weight("w", {4, 6});
  net.weight("v", {4, 6});
  net.node("Pow", {"words", "two"}, "squares");
  net.node("ReduceMean", {"squares"}, "mean")("axes", Dims{-1});
  net.node("Add", {"mean", "epsilon"}, "more");
  net.node("Sqrt", {"more"}, "root");
  net.node("Reciprocal", {"root"}, "inverse");
  net.node("Mul", {"words", "inverse"}, "unit");
  net.node("Mul", {"scale", "unit"}, "normal");
  net.node("MatMul", {"normal", "w"}, "gate");
  net.node("Sigmoid", {"gate"}, "open");
  net.node("Mul", {"gate", "open"}, "silu");
  net.node("MatMul", {"normal", "v"}, "up");
  net.node("Mul", {"silu", "up"}, "y");
  const Graph graph = net.output("y").read().graph;
  EXPECT_THAT(lines(graph),
              ElementsAre("x input 1x1x1x3", "words embedding 4x1x1x3 +28 < x",
                          "squares rms_norm 4x1x1x3 +4 < words",
                          "gate linear 6x1x1x3 +24 < squares", "up linear 6x1x1x3 +24 < squares",
                          "y swiglu 6x1x1x3 < gate, up", "loss softmax_cross_entropy 6x1x1x3 < y"));
  EXPECT_EQ(kind_of<RmsNorm>(graph, "squares"), (RmsNorm{1e-6}));
}

// Of four channels in two heads, as torch.export writes what norms queries.
TEST(OnnxTokens, RootMeanSquaresOfHeadsAreANormOfHeads) {
  Model net = words();
  net.weight("scale", {2});
  net.weight("w", {4, 5});
  net.integers("heads", {0, 3, 2, 2});
  net.integers("flat", {0, 3, 4});
  net.constant("two", 2);
  net.constant("epsilon", 1e-6F);
  net.node("Reshape", {"words", "heads"}, "split");
  net.node("Pow", {"split", "two"}, "squares");
  net.node("ReduceMean", {"squares"}, "mean")("axes", Dims{-1});
  net.node("Add", {"mean", "epsilon"}, "more");
  net.node("Sqrt", {"more"}, "root");
  net.node("Reciprocal", {"root"}, "inverse");
  net.node("Mul", {"split", "inverse"}, "unit");
  net.node("Mul", {"scale", "unit"}, "normal");
  net.node("Reshape", {"normal", "flat"}, "joined");
  net.node("MatMul", {"joined", "w"}, "y");
  const Graph graph = net.output("y").read().graph;
  EXPECT_EQ(kind_of<RmsNorm>(graph, "squares"), (RmsNorm{1e-6, 2}));
  EXPECT_EQ(graph[graph.find("squares")].parameters, (Parameters{.weight = 2, .loops = kNoLoops}));
}

// x cos + (-second half, first half) sin of queries and keys, whose heads have two channels.
Model turned(double speed) {
  Model net = scored();
  std::vector<float> cosines, sines;
  for (const int position : {0, 1, 2}) {
    cosines.insert(cosines.end(), 2, static_cast<float>(std::cos(position * speed)));
    sines.insert(sines.end(), 2, static_cast<float>(std::sin(position * speed)));
  }
  net.weight("cos", {1, 1, 3, 2}, cosines);
  net.weight("sin", {1, 1, 3, 2}, sines);
  net.integers("zero", {0}).integers("one", {1}).integers("two", {2}).integers("last", {3});
  net.node("Transpose", {"k"}, "k_rows")("perm", Dims{0, 1, 3, 2});
  for (const std::string x : {"q", "k_rows"}) {
    net.node("Slice", {x, "zero", "one", "last"}, x + "_first");
    net.node("Slice", {x, "one", "two", "last"}, x + "_second");
    net.node("Neg", {x + "_second"}, x + "_negative");
    net.node("Concat", {x + "_negative", x + "_first"}, x + "_half")("axis", -1);
    net.node("Mul", {x, "cos"}, x + "_cos");
    net.node("Mul", {x + "_half", "sin"}, x + "_sin");
    net.node("Add", {x + "_cos", x + "_sin"}, x + "_turned");
  }
  net.node("Transpose", {"k_rows_turned"}, "columns")("perm", Dims{0, 1, 3, 2});
  net.node("MatMul", {"q_turned", "columns"}, "products");
  net.constant("root", std::sqrt(2.0F));
  net.node("Div", {"products", "root"}, "scaled");
  return attended(std::move(net), "scaled");
}

TEST(OnnxTokens, RotaryPositionsAreTheAttentions) {
  EXPECT_EQ(kind_of<Attention>(turned(1).read().graph, "heads"), (Attention{2, false, 0, 10000}));
  EXPECT_THAT(said([] { turned(0.5).read(); }),
              HasSubstr("it turns by other angles than position / base^(2 i / head size)"));
}

// An infinite slope, and places that no tensor has, are no numbers of a network.
TEST(OnnxTokens, ConstantsThatMakeNoSenseAreErrors) {
  Model net = scaled();
  net.constant("zero", 0).constant("one", 1);
  net.node("Div", {"one", "zero"}, "infinite");
  net.node("Cast", {"infinite"}, "place")("to", onnx::TensorProto::INT64);
  net.weight("masks", {2, 3, 3});
  net.node("Gather", {"masks", "place"}, "mask");
  net.node("Add", {"scaled", "mask"}, "masked");
  EXPECT_EQ(said([&] { attended(net, "masked").read(); }),
            "net.onnx: node masked (Add): its mask depends on data; allowed: one that constants "
            "alone compute");
}

}  // namespace
}  // namespace strata
