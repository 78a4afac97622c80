// The dims of what nodes write, by our own rules. Their referee is ONNX's own inference, for the
// opsets that it knows; what came later is derived here.

#include <array>
#include <climits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/importers/onnx/library_inference.h"
#include "sim/importers/onnx/shape_rules.h"
#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Dims;
using testing::Model;

// The last node of a model, with its inputs.
class OneNode {
 public:
  explicit OneNode(Model& net, int opset) : net_(net), opset_(opset) {
    for (const auto& tensor : net.graph().initializer()) {
      known_.add_tensor(tensor.name(), tensor);
      add_type(tensor.name(), tensor.data_type());
    }
    for (const auto& input : net.graph().input()) {
      TensorDims dims;
      for (const auto& dim : input.type().tensor_type().shape().dim())
        dims.push_back(dim.dim_value());
      known_.add(input.name(), dims);
      add_type(input.name(), onnx::TensorProto::FLOAT);
    }
  }

  std::vector<TensorDims> ours() const {
    std::vector<TensorDims> all;
    for (const auto& dims : output_dims(KnownNode(node(), opset_, known_)))
      all.push_back(dims.value_or(TensorDims{-1}));
    return all;
  }
  TensorDims first() const { return ours().front(); }

  std::vector<TensorDims> theirs() const {
    std::vector<TensorDims> all(static_cast<std::size_t>(node().output_size()), {-2});
    for (const auto& value : infer_by_library(node(), opset_, known_, types_)) {
      TensorDims dims;
      for (const auto& dim : value.type().tensor_type().shape().dim())
        dims.push_back(dim.dim_value());
      for (int i = 0; i < node().output_size(); ++i) {
        if (node().output(i) == value.name()) all[static_cast<std::size_t>(i)] = dims;
      }
    }
    return all;
  }

 private:
  const onnx::NodeProto& node() const { return net_.proto.graph().node(0); }

  void add_type(const std::string& name, int element) {
    auto& type = *types_[name].mutable_tensor_type();
    type.set_elem_type(element);
    auto& shape = *type.mutable_shape();
    for (const std::int64_t dim : *known_.dims(name)) shape.add_dim()->set_dim_value(dim);
  }

  Model& net_;
  int opset_;
  KnownValues known_;
  ValueTypes types_;
};

// Draws for a seed.
class Draws {
 public:
  explicit Draws(int seed) : random_(static_cast<std::uint32_t>(seed)) {}
  int upto(int last) { return std::uniform_int_distribution<int>(0, last)(random_); }
  int from(int first, int last) { return std::uniform_int_distribution<int>(first, last)(random_); }
  Dims dims(std::size_t rank, int most = 6) {
    Dims dims;
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(from(1, most));
    return dims;
  }

 private:
  std::mt19937 random_;
};

void windows(const testing::Attributes& node, Draws& draws, std::size_t rank) {
  Dims kernel, strides, pads;
  for (std::size_t i = 0; i < rank; ++i) {
    kernel.push_back(draws.from(1, 3));
    strides.push_back(draws.from(1, 3));
  }
  for (std::size_t i = 0; i < 2 * rank; ++i) pads.push_back(draws.upto(1));
  node("kernel_shape", kernel)("strides", strides)("pads", pads);
}

Dims spatial(Draws& draws, std::size_t rank) {
  Dims dims = {2, 3};
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(draws.from(3, 12));
  return dims;
}

using Make = void (*)(Model&, Draws&);

namespace drawn {

void convolution(Model& net, Draws& draws) {
  const auto rank = static_cast<std::size_t>(draws.from(1, 3));
  const auto node = net.node("Conv", {"x", "w"}, "y");
  windows(node, draws, rank);
  Dims weight = {4, 3};
  for (const std::int64_t k : node.proto().attribute(0).ints()) weight.push_back(k);
  net.input("x", spatial(draws, rank)).weight("w", weight, {0});
}

void pooling(Model& net, Draws& draws) {
  const auto rank = static_cast<std::size_t>(draws.from(1, 3));
  const auto node = net.node(draws.upto(1) ? "MaxPool" : "AveragePool", {"x"}, "y");
  windows(node, draws, rank);
  net.input("x", spatial(draws, rank));
}

void same_padding(Model& net, Draws& draws) {
  net.node("MaxPool", {"x"}, "y")("kernel_shape", Dims{3, 2})("strides", draws.dims(2, 3))(
      "auto_pad", draws.upto(1) ? "SAME_UPPER" : "VALID");
  net.input("x", spatial(draws, 2));
}

void broadcast(Model& net, Draws& draws) {
  Dims a = draws.dims(static_cast<std::size_t>(draws.from(1, 4)), 3), b = a;
  for (std::int64_t& dim : b) dim = draws.upto(1) ? dim : 1;
  b.erase(b.begin(), b.begin() + draws.upto(static_cast<int>(b.size())));
  if (draws.upto(1)) std::swap(a, b);
  net.node(draws.upto(1) ? "Mul" : "Add", {"a", "b"}, "y");
  net.input("a", a).input("b", b);
}

void product(Model& net, Draws& draws) {
  Dims a = draws.dims(static_cast<std::size_t>(draws.from(1, 4)));
  Dims b = draws.upto(3) ? Dims{a.back(), 5} : Dims{a.back()};
  if (b.size() == 2 && a.size() > 2 && draws.upto(1)) b.insert(b.begin(), a[a.size() - 3]);
  net.node("MatMul", {"a", "b"}, "y");
  net.input("a", a).input("b", b);
}

void gemm(Model& net, Draws& draws) {
  const int a = draws.upto(1), b = draws.upto(1);
  net.node("Gemm", {"a", "b"}, "y")("transA", a)("transB", b);
  net.input("a", a ? Dims{3, 2} : Dims{2, 3}).input("b", b ? Dims{5, 3} : Dims{3, 5});
}

void reduction(Model& net, Draws& draws) {
  const auto node = net.node("ReduceMean", {"x"}, "y")("keepdims", draws.upto(1));
  if (draws.upto(3)) node("axes", draws.upto(1) ? Dims{-1, 1} : Dims{2});
  net.input("x", draws.dims(4));
}

void reshape(Model& net, Draws& draws) {
  constexpr int kShapes = 4;
  const std::array<Dims, kShapes> shapes = {{{0, -1}, {24, 5}, {4, 0, -1}, {-1}}};
  net.node("Reshape", {"x", "shape"}, "y");
  net.input("x", {4, 3, 10}).integers("shape", shapes[draws.upto(kShapes - 1)]);
}

void flatten(Model& net, Draws& draws) {
  net.node("Flatten", {"x"}, "y")("axis", draws.from(-3, 3));
  net.input("x", draws.dims(3));
}

void squeeze(Model& net, Draws& draws) {
  const bool all = draws.upto(1) != 0;
  net.node("Squeeze", all ? testing::Names{"x"} : testing::Names{"x", "axes"}, "y");
  net.input("x", {2, 1, 3, 1}).integers("axes", draws.upto(1) ? Dims{1} : Dims{-1, 1});
}

void unsqueeze(Model& net, Draws& draws) {
  net.node("Unsqueeze", {"x", "axes"}, "y");
  net.input("x", draws.dims(2)).integers("axes", draws.upto(1) ? Dims{0, -1} : Dims{2});
}

void transpose(Model& net, Draws& draws) {
  const auto node = net.node("Transpose", {"x"}, "y");
  if (draws.upto(1)) node("perm", Dims{0, 2, 3, 1});
  net.input("x", draws.dims(4));
}

void slice(Model& net, Draws& draws) {
  const int step = draws.upto(1) ? draws.from(1, 3) : -draws.from(1, 3);
  net.node("Slice", {"x", "starts", "ends", "axes", "steps"}, "y");
  net.input("x", draws.dims(3, 9)).integers("starts", {draws.from(-10, 10), 0});
  net.integers("ends", {draws.from(-10, 10), 2})
      .integers("axes", {1, -1})
      .integers("steps", {step, 1});
}

void gather(Model& net, Draws& draws) {
  net.node("Gather", {"x", "i"}, "y")("axis", draws.from(-3, 2));
  net.input("x", draws.dims(3)).integers("i", Dims(static_cast<std::size_t>(draws.from(1, 3)), 0));
}

void split(Model& net, Draws& draws) {
  const bool said = draws.upto(1) != 0;
  auto node = net.node("Split", said ? testing::Names{"x", "parts"} : testing::Names{"x"}, "y");
  node("axis", 1).proto().add_output("z");
  net.input("x", {2, 8, 3}).integers("parts", {3, 5});
}

void concat(Model& net, Draws& draws) {
  const int axis = draws.from(-3, 2);
  Dims a = draws.dims(3), b = a;
  b[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)] = draws.from(1, 6);
  net.node("Concat", {"a", "b"}, "y")("axis", axis);
  net.input("a", a).input("b", b);
}

void pad(Model& net, Draws& draws) {
  Dims pads;
  for (int i = 0; i < 8; ++i) pads.push_back(draws.upto(3));
  net.node("Pad", {"x", "pads"}, "y");
  net.input("x", draws.dims(4)).integers("pads", pads);
}

void expand(Model& net, Draws& draws) {
  net.node("Expand", {"x", "shape"}, "y");
  net.input("x", {1, 3}).integers("shape", draws.upto(1) ? Dims{2, 4, 1} : Dims{5, 3});
}

void shape(Model& net, Draws& draws) {
  net.node("Shape", {"x"}, "y")("start", draws.from(-5, 5))("end", draws.from(-5, 5));
  net.input("x", draws.dims(4));
}

void layer_normalization(Model& net, Draws& draws) {
  const Dims dims = draws.dims(4);
  net.node("LayerNormalization", {"x", "scale"}, "y")("axis", -1);
  net.input("x", dims).weight("scale", {dims.back()});
}

}  // namespace drawn

TEST(OnnxShapes, AreThoseOfOnnxsOwnInference) {
  const std::vector<Make> makes = {
      drawn::convolution, drawn::pooling, drawn::same_padding, drawn::broadcast,
      drawn::product,     drawn::gemm,    drawn::reduction,    drawn::reshape,
      drawn::flatten,     drawn::squeeze, drawn::unsqueeze,    drawn::transpose,
      drawn::slice,       drawn::gather,  drawn::split,        drawn::concat,
      drawn::pad,         drawn::expand,  drawn::shape,        drawn::layer_normalization};
  for (std::size_t kind = 0; kind < makes.size(); ++kind) {
    for (int seed = 0; seed < 40; ++seed) {
      Draws draws(seed);
      Model net;
      makes[kind](net, draws);
      const OneNode node(net, 17);
      EXPECT_EQ(node.ours(), node.theirs())
          << net.graph().node(0).op_type() << ", seed " << seed << "\n"
          << net.proto.DebugString();
    }
  }
}

// Since opset 18 they are an input.
TEST(OnnxShapes, AReductionsAxesMayBeAnInput) {
  const auto reduced = [](const Dims& axes, int noop) {
    Model net;
    net.node("ReduceMax", {"x", "axes"}, "y")("noop_with_empty_axes", noop);
    net.input("x", {2, 3, 4}).integers("axes", axes);
    return OneNode(net, 18).first();
  };
  EXPECT_EQ(reduced({-1, 1}, 0), (TensorDims{2, 1, 1}));
  EXPECT_EQ(reduced({}, 0), (TensorDims{1, 1, 1}));
  EXPECT_EQ(reduced({}, 1), (TensorDims{2, 3, 4}));
  EXPECT_EQ(said([&] { reduced({3}, 0); }), "its axis is 3; allowed: -3 to 2");
  EXPECT_EQ(said([&] { reduced({2, -1}, 0); }), "its axes are (2, -1); allowed: each at most once");
}

// 10 in 4 parts: ceil(10 / 4) = 3 each, and what is left.
TEST(OnnxShapes, ASplitMaySayItsNumberOfParts) {
  Model net;
  auto node = net.node("Split", {"x"}, "a")("axis", -1)("num_outputs", 4);
  for (const char* name : {"b", "c", "d"}) node.proto().add_output(name);
  net.input("x", {2, 10});
  EXPECT_EQ(OneNode(net, 18).ours(), (std::vector<TensorDims>{{2, 3}, {2, 3}, {2, 3}, {2, 1}}));
}

std::string said_of_split(const Dims& parts, std::int64_t extent, int outputs) {
  Model net;
  auto node = net.node("Split", {"x", "parts"}, "y0");
  for (int i = 1; i < outputs; ++i) node.proto().add_output(fmt::format("y{}", i));
  net.input("x", {extent}).integers("parts", parts);
  return said([&] { OneNode(net, 18).ours(); });
}

TEST(OnnxShapes, ASplitsPartsAddUp) {
  EXPECT_EQ(said_of_split({2, 0, 1}, 3, 3), "");
  EXPECT_EQ(said_of_split({2, 2}, 3, 2), "its parts are (2, 2) of 3; allowed: 2 that add up to it");
  EXPECT_EQ(said_of_split({4, -1}, 3, 2),
            "its parts are (4, -1) of 3; allowed: 2 that add up to it");
  EXPECT_EQ(said_of_split({1, 2}, 3, 3), "its parts are (1, 2) of 3; allowed: 3 that add up to it");
  EXPECT_NE(said_of_split(Dims(1024, INT64_MAX / 512), 3, 1024), "");
}

// Their parts are computed once for all.
TEST(OnnxShapes, ASplitMayHaveManyOutputs) {
  constexpr int kMany = 1'000'000;
  Model net;
  auto node = net.node("Split", {"x"}, "y")("num_outputs", kMany);
  for (int i = 1; i < kMany; ++i) node.proto().add_output("y");
  net.input("x", {2 * kMany});
  const auto dims = OneNode(net, 18).ours();
  EXPECT_EQ(dims.size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(dims.back(), TensorDims{2});
}

TEST(OnnxShapes, ASplitHasAsManyOutputsAsItSays) {
  Model net;
  net.node("Split", {"x"}, "y")("num_outputs", 3);
  net.input("x", {6});
  EXPECT_EQ(said([&] { OneNode(net, 18).ours(); }),
            "num_outputs is 3; allowed: 1, as it has outputs");
}

TEST(OnnxShapes, APadMayBeOfSomeAxes) {
  const auto padded = [](const Dims& pads, const Dims& axes) {
    Model net;
    net.node("Pad", {"x", "pads", "", "axes"}, "y");
    net.input("x", {2, 3, 4, 5}).integers("pads", pads).integers("axes", axes);
    return OneNode(net, 18).first();
  };
  EXPECT_EQ(padded({1, 0, 2, 3}, {-1, 2}), (TensorDims{2, 3, 7, 8}));
  EXPECT_EQ(said([&] {
              padded({1, 0, 2}, {-1, 2});
            }),
            "its pads are (1, 0, 2), its axes (-1, 2); allowed: two pads for each axis");
}

TEST(OnnxShapes, APadIsBoundedBeforeItIsAdded) {
  const auto padded = [](const Dims& pads, const Dims& axes) {
    Model net;
    net.node("Pad", {"x", "pads", "", "axes"}, "y");
    net.input("x", {2, 3}).integers("pads", pads).integers("axes", axes);
    return said([&] { OneNode(net, 18).ours(); });
  };
  EXPECT_EQ(padded({INT64_MAX, INT64_MAX, 0, 0}, {1, -1}),
            "its axes are (1, -1); allowed: each at most once");
  EXPECT_EQ(padded({0, INT64_MIN}, {1}),
            "its pads are (0, 0, 0, -9223372036854775808); allowed: 4 numbers from -2147483648 to "
            "2147483648");
}

// By a weight without values, 2^40 columns; 2^40 x 2^20 are too many, and so are strides of 2^63.
TEST(OnnxShapes, WindowsAreBoundedBeforeTheySlide) {
  const auto slid = [](std::int64_t kernel, const char* name, std::int64_t number) {
    Model net;
    auto node = net.node("Conv", {"x", "w"}, "y");
    node(name, Dims{number});
    net.input("x", {2, 3, 8}).input("w", {1, 3, kernel});
    return said([&] { OneNode(net, 17).ours(); });
  };
  EXPECT_EQ(slid(std::int64_t{1} << 40, "dilations", 1 << 20),
            "its kernel is (1099511627776); allowed: 1 to 1048576 each");
  EXPECT_EQ(slid(3, "dilations", INT64_MAX),
            "its dilations are (9223372036854775807); allowed: 1 to 1048576 each");
  EXPECT_EQ(slid(3, "strides", 0), "its strides are (0); allowed: 1 to 1048576 each");
  EXPECT_NE(slid(3, "strides", INT64_MAX), "");
}

// floor(5 x 1.5) = 7
TEST(OnnxShapes, AResizeScales) {
  Model net;
  net.node("Resize", {"x", "", "scales"}, "y");
  net.input("x", {2, 3, 4, 5}).weight("scales", {4}, {1, 1, 2, 1.5F});
  EXPECT_EQ(OneNode(net, 17).first(), (TensorDims{2, 3, 8, 7}));
}

TEST(OnnxShapes, AResizeMayBeOfSomeAxes) {
  Model net;
  net.node("Resize", {"x", "", "", "sizes"}, "y")("axes", Dims{2, 3});
  net.input("x", {2, 3, 4, 5}).integers("sizes", {8, 7});
  EXPECT_EQ(OneNode(net, 18).first(), (TensorDims{2, 3, 8, 7}));
}

// (5 + 2 - (2 * 2 + 1)) / 2 + 1 = 2
TEST(OnnxShapes, AnAveragePoolingMayHaveDilations) {
  Model net;
  net.node("AveragePool", {"x"}, "y")("kernel_shape", Dims{3})("dilations", Dims{2})(
      "strides", Dims{2})("pads", Dims{1, 1});
  net.input("x", {2, 3, 5});
  EXPECT_EQ(OneNode(net, 19).first(), (TensorDims{2, 3, 2}));
}

// Of a zero in the shape: the input's own extent, or none.
TEST(OnnxShapes, AReshapesZeroMayBeZero) {
  const auto reshaped = [](int zeros) {
    Model net;
    net.node("Reshape", {"x", "shape"}, "y")("allowzero", zeros);
    net.input("x", {2, 3}).integers("shape", {0, 3});
    return OneNode(net, 14).first();
  };
  EXPECT_EQ(reshaped(0), (TensorDims{2, 3}));
  EXPECT_EQ(said([&] { reshaped(1); }),
            "its shape is (0, 3), its input (2, 3); allowed: the same elements");
}

TEST(OnnxShapes, WhatDoesNotFitIsAnError) {
  Model net;
  net.node("Add", {"a", "b"}, "y");
  net.input("a", {2, 3}).input("b", {2});
  EXPECT_EQ(said([&] { OneNode(net, 20).ours(); }),
            "its inputs are (2, 3) and (2); allowed: equal extents or 1 on each axis");
}

}  // namespace
}  // namespace strata
