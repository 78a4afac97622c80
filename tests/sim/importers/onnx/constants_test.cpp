// What nodes compute from constants alone, number by number.

#include "sim/importers/onnx/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"

namespace strata {
namespace {

using testing::Dims;
using ::testing::ElementsAre;
using testing::Model;
using testing::Names;

// A matrix "m" of 0 ... 5 in two rows, a row "r" of 10, 20, 30, and small integers by name.
class OnnxConstants : public ::testing::Test {
 protected:
  OnnxConstants() {
    net.input("x", {1, 2}).output("y");
    net.node("Relu", {"x"}, "y");
    net.weight("m", {2, 3});
    net.weight("r", {3}, {10, 20, 30});
    net.integers("zero", {0}).integers("one", {1}).integers("two", {2});
  }
  std::vector<double> values(const std::string& name) {
    shapes_ = infer_shapes(net.proto, "net.onnx");
    const auto found = Constants(net.graph(), shapes_, "").find(name);
    return found ? found->values : std::vector<double>{-1};
  }

  Model net;

 private:
  OnnxShapes shapes_;
};

TEST_F(OnnxConstants, ElementByElementWithSpreading) {
  net.node("Add", {"m", "r"}, "sum");
  net.node("LessOrEqual", {"r", "m"}, "less");
  net.node("Where", {"less", "m", "r"}, "chosen");
  EXPECT_THAT(values("sum"), ElementsAre(10, 21, 32, 13, 24, 35));
  EXPECT_THAT(values("less"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(values("chosen"), ElementsAre(10, 20, 30, 10, 20, 30));
}

TEST_F(OnnxConstants, PartsAndOrders) {
  net.node("Transpose", {"m"}, "turned");
  net.node("Slice", {"m", "one", "two", "one"}, "column");
  net.node("Gather", {"m", "one"}, "row");
  net.node("Concat", {"m", "row"}, "rows")("axis", 0);
  EXPECT_THAT(values("turned"), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(values("column"), ElementsAre(1, 4));
  EXPECT_THAT(values("row"), ElementsAre(3, 4, 5));
  EXPECT_THAT(values("rows"), ElementsAre(0, 1, 2, 3, 4, 5, 3, 4, 5));
}

// Where inference knows no dims, it has not refused them.
TEST(OnnxConstantOps, AnOrderHasEachAxisOnce) {
  const ConstantTensor m{{2, 3}, {0, 1, 2, 3, 4, 5}};
  onnx::NodeProto turn;
  turn.set_op_type("Transpose");
  onnx::AttributeProto& order = *turn.add_attribute();
  order.set_name("perm");
  order.set_type(onnx::AttributeProto::INTS);
  const auto turned = [&](std::int64_t first, std::int64_t second) {
    order.clear_ints();
    order.add_ints(first);
    order.add_ints(second);
    return computed(turn, {&m}, nullptr);
  };
  EXPECT_THAT(turned(1, 0)->values, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_FALSE(turned(1, 1));
  EXPECT_FALSE(turned(-1, 0));
}

TEST_F(OnnxConstants, Places) {
  net.integers("points", {1, 2});
  net.node("GatherND", {"m", "points"}, "point");
  net.integers("list", {2, 0, 0});
  net.node("Unsqueeze", {"list", "zero"}, "columns");
  net.node("GatherElements", {"m", "columns"}, "elements")("axis", 1);
  EXPECT_THAT(values("point"), ElementsAre(5));
  EXPECT_THAT(values("elements"), ElementsAre(2, 0, 0));
}

TEST_F(OnnxConstants, TrianglesSumsAndProducts) {
  net.node("Trilu", {"m"}, "lower")("upper", 0);
  net.node("CumSum", {"m", "one"}, "sums");
  net.node("Transpose", {"m"}, "turned");
  net.node("MatMul", {"m", "turned"}, "products");
  EXPECT_THAT(values("lower"), ElementsAre(0, 0, 0, 3, 4, 0));
  EXPECT_THAT(values("sums"), ElementsAre(0, 1, 3, 3, 7, 12));
  EXPECT_THAT(values("products"), ElementsAre(5, 14, 14, 50));
}

TEST_F(OnnxConstants, RangesAreOfIntegers) {
  auto scalar = [&](const char* name, std::int64_t value) {
    auto& tensor = *net.graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_int64_data(value);
  };
  scalar("from", 2);
  scalar("to", 7);
  scalar("by", 2);
  net.node("Range", {"from", "to", "by"}, "steps");
  EXPECT_THAT(values("steps"), ElementsAre(2, 4, 6));
}

TEST_F(OnnxConstants, WhatDependsOnDataOrIsOutsideIsNone) {
  net.node("Add", {"x", "zero"}, "of_data");
  net.integers("far", {7});
  net.node("Gather", {"m", "far"}, "outside");
  net.node("Erf", {"m"}, "unknown");
  for (const char* name : {"of_data", "outside", "unknown", "nothing"})
    EXPECT_THAT(values(name), ElementsAre(-1)) << name;
}

// Twice the one before, 300 deep: more than is followed, and no time is lost.
TEST_F(OnnxConstants, DeepOnesAreNone) {
  std::string last = "r";
  for (int i = 0; i < 300; ++i) {
    const std::string next = "sum" + std::to_string(i);
    net.node("Add", {last, last}, next);
    last = next;
  }
  EXPECT_THAT(values("sum9"), ElementsAre(10240, 20480, 30720));
  EXPECT_THAT(values(last), ElementsAre(-1));
}

}  // namespace
}  // namespace strata
