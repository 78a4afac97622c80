// Integers that nodes compute from constants, where ONNX's own inference does not follow them.

#include <climits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/importers/onnx/integer_folding.h"
#include "tests/sim/importers/onnx/model.h"

namespace strata {
namespace {

using testing::Attributes;
using testing::Dims;
using ::testing::ElementsAre;
using Folded = std::optional<std::vector<std::int64_t>>;

onnx::NodeProto node(const char* op) {
  onnx::NodeProto proto;
  proto.set_op_type(op);
  return proto;
}

KnownIntegers list(const Dims& values) {
  return {{std::ssize(values)}, values};
}

// 0 1 2
// 3 4 5
const KnownIntegers kTable = {{2, 3}, {0, 1, 2, 3, 4, 5}};

Folded slice(const Dims& starts, const Dims& axes, const Dims& steps, const Dims& dims) {
  return fold(node("Slice"), {kTable, list(starts), list({}), list(axes), list(steps)}, dims);
}

TEST(OnnxFolding, ATableIsTransposed) {
  onnx::NodeProto turn = node("Transpose");
  EXPECT_THAT(*fold(turn, {kTable}, {3, 2}), ElementsAre(0, 3, 1, 4, 2, 5));
  Attributes{turn}("perm", Dims{0, 1});
  EXPECT_THAT(*fold(turn, {kTable}, {2, 3}), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(fold(turn, {kTable}, {3, 2}), std::nullopt);
  turn.mutable_attribute(0)->set_ints(0, 1);
  EXPECT_EQ(fold(turn, {kTable}, {3, 3}), std::nullopt);
}

TEST(OnnxFolding, ATableIsCut) {
  EXPECT_THAT(*slice({-1}, {0}, {-1}, {2, 3}), ElementsAre(3, 4, 5, 0, 1, 2));
  EXPECT_THAT(*slice({0}, {1}, {2}, {2, 2}), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(*slice({1, -2}, {}, {}, {1, 2}), ElementsAre(4, 5));
  EXPECT_THAT(*slice({INT64_MAX}, {-1}, {INT64_MIN}, {2, 1}), ElementsAre(2, 5));
  EXPECT_THAT(*slice({3}, {1}, {1}, {2, 0}), ElementsAre());
}

TEST(OnnxFolding, OfDimsThatAreNotTheSlicesNothingComes) {
  EXPECT_EQ(slice({1}, {1}, {1}, {2, 3}), std::nullopt);
  EXPECT_EQ(slice({0}, {2}, {1}, {2, 3}), std::nullopt);
  EXPECT_EQ(slice({0, 0}, {0}, {}, {2, 3}), std::nullopt);
  EXPECT_EQ(slice({}, {}, {}, {2, 4}), std::nullopt);
}

TEST(OnnxFolding, PartsAreJoinedAlongAnyAxis) {
  onnx::NodeProto join = node("Concat");
  const KnownIntegers column = {{2, 1}, {8, 9}};
  Attributes{join}("axis", -1);
  EXPECT_THAT(*fold(join, {kTable, column}, {2, 4}), ElementsAre(0, 1, 2, 8, 3, 4, 5, 9));
  EXPECT_EQ(fold(join, {kTable, column}, {2, 3}), std::nullopt);
}

TEST(OnnxFolding, NumbersAreComputedOneByOne) {
  EXPECT_THAT(*fold(node("Sub"), {list({5, 7}), list({2})}, {2}), ElementsAre(3, 5));
  EXPECT_THAT(*fold(node("Mul"), {KnownIntegers{{}, {4}}, list({2, 3})}, {2}), ElementsAre(8, 12));
  EXPECT_EQ(fold(node("Add"), {list({INT64_MAX}), list({1})}, {1}), std::nullopt);
  EXPECT_EQ(fold(node("Add"), {list({1, 2, 3}), list({1, 2})}, {3}), std::nullopt);
}

TEST(OnnxFolding, QuotientsAreRoundedDown) {
  EXPECT_THAT(*fold(node("Div"), {list({117, 6}), list({2})}, {2}), ElementsAre(58, 3));
  EXPECT_EQ(fold(node("Div"), {list({-7}), list({2})}, {1}), std::nullopt);
  EXPECT_EQ(fold(node("Div"), {list({7}), list({0})}, {1}), std::nullopt);
}

TEST(OnnxFolding, WhatHasOneNumberIsExpanded) {
  EXPECT_THAT(*fold(node("Expand"), {list({7}), list({3})}, {3}), ElementsAre(7, 7, 7));
  EXPECT_EQ(fold(node("Expand"), {list({7, 8}), list({2, 2})}, {2, 2}), std::nullopt);
}

TEST(OnnxFolding, AShapeMayBeCut) {
  onnx::NodeProto shape = node("Shape");
  Attributes{shape}("start", -2)("end", 5);
  EXPECT_THAT(*fold(shape, {KnownIntegers{{4, 5, 6}, {}}}, {2}), ElementsAre(5, 6));
  EXPECT_THAT(*fold(node("Size"), {KnownIntegers{{4, 5, 6}, {}}}, {}), ElementsAre(120));
}

TEST(OnnxFolding, RowsAreGathered) {
  EXPECT_THAT(*fold(node("Gather"), {kTable, list({-1})}, {1, 3}), ElementsAre(3, 4, 5));
  EXPECT_EQ(fold(node("Gather"), {kTable, list({2})}, {1, 3}), std::nullopt);
  EXPECT_THAT(*fold(node("Shape"), {kTable}, {2}), ElementsAre(2, 3));
}

TEST(OnnxFolding, WhatIsLargeOrOfAnotherTypeIsNotFolded) {
  for (const char* op : {"Cast", "CastLike"}) {
    const auto cast = [&](std::int64_t value, int type) {
      return fold(node(op), {list({value})}, {1}, type);
    };
    EXPECT_THAT(*cast(3, onnx::TensorProto::INT32), ElementsAre(3));
    EXPECT_EQ(cast(INT64_MAX, onnx::TensorProto::INT32), std::nullopt);
    EXPECT_THAT(*cast(1 << 24, onnx::TensorProto::FLOAT), ElementsAre(1 << 24));
    EXPECT_EQ(cast((1 << 24) + 1, onnx::TensorProto::FLOAT), std::nullopt);
    EXPECT_EQ(cast(3, onnx::TensorProto::BOOL), std::nullopt);
    EXPECT_EQ(cast(3, onnx::TensorProto::UNDEFINED), std::nullopt);
  }
  EXPECT_EQ(fold(node("Identity"), {list(Dims(1025, 1))}, {1025}), std::nullopt);
  EXPECT_EQ(fold(node("ConstantOfShape"), {list({2})}, {2}), std::nullopt);  // floats
}

}  // namespace
}  // namespace strata
