// Dims that a file leaves open beside the batch, and the numbers that they are given by name.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::lines;
using testing::Model;

onnx::TensorShapeProto& shape_of(onnx::ValueInfoProto& value) {
  return *value.mutable_type()->mutable_tensor_type()->mutable_shape();
}

// Images of any height and width.
Model of_images() {
  Model net;
  net.input("x", {0, 3, 1, 1}).output("y");
  auto& shape = shape_of(*net.graph().mutable_input(0));
  shape.mutable_dim(2)->set_dim_param("height");
  shape.mutable_dim(3)->set_dim_param("width");
  net.weight("w", {4, 3, 3, 3});
  net.node("Conv", {"x", "w"}, "y");
  return net;
}

OnnxModel read(const Model& net, const OpenDims& dims,
               OnnxUnsupported unsupported = OnnxUnsupported::refuse) {
  return parse_onnx(net.bytes(), "net.onnx", 2, OnnxWeights::skip, unsupported, dims);
}

TEST(OnnxOpenDims, HaveTheNumbersThatTheyAreGiven) {
  // A 3x3 window without padding loses a pixel at each edge.
  EXPECT_THAT(lines(read(of_images(), {{"height", 8}, {"width", 5}}).graph),
              ElementsAre("x input 3x1x8x5", "y conv2d 4x1x6x3 +108 < x"));
}

TEST(OnnxOpenDims, AreTheSameInEveryInput) {
  Model net;
  net.input("x", {0, 3, 1}).input("z", {0, 3, 1}).output("y");
  for (auto& input : *net.graph().mutable_input())
    shape_of(input).mutable_dim(2)->set_dim_param("t");
  net.node("Add", {"x", "z"}, "y");
  EXPECT_THAT(lines(read(net, {{"t", 7}}).graph),
              ElementsAre("x input 3x1x1x7", "z input 3x1x1x7", "y add 3x1x1x7 < x, z"));
}

// Of an op that nothing here knows the file alone says the shape.
TEST(OnnxOpenDims, AreKnownWhereTheFileSaysShapes) {
  Model net(20);
  net.input("x", {0, 3, 1}).output("y");
  shape_of(*net.graph().mutable_input(0)).mutable_dim(2)->set_dim_param("t");
  net.weight("offsets", {2});
  net.node("DeformConv", {"x", "offsets", "offsets"}, "y");
  auto& shape = shape_of(*net.graph().mutable_output(0));
  shape.add_dim()->set_dim_param("batch");
  shape.add_dim()->set_dim_value(4);
  shape.add_dim()->set_dim_param("t");
  net.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::FLOAT);
  EXPECT_EQ(lines(read(net, {{"t", 9}}, OnnxUnsupported::opaque).graph).back(),
            "y opaque 4x1x1x9 +4 < x");
}

TEST(OnnxOpenDims, MustEachBeGiven) {
  EXPECT_EQ(said([] { read(of_images(), {}); }),
            "net.onnx: input 'x': its dims 'height', 'width' are open; allowed: numbers, but for "
            "the batch; `dim` height=N gives one");
  EXPECT_EQ(said([] {
              read(of_images(), {{"height", 8}});
            }),
            "net.onnx: input 'x': its dim 'width' is open; allowed: numbers, but for the batch; "
            "`dim` width=N gives one");
}

TEST(OnnxOpenDims, AreNoOthersThanThoseOfInputs) {
  EXPECT_EQ(said([] {
              read(of_images(), {{"depth", 8}});
            }),
            "net.onnx: `dim` depth: no input has such a dim; allowed: height, width");
  EXPECT_EQ(said([] {
              read(of_images(), {{"batch", 8}});
            }),
            "net.onnx: `dim` batch: it is the number of samples; allowed: `batch` 8");
  Model closed;
  closed.input("x", {0, 3, 8}).output("y").node("Relu", {"x"}, "y");
  EXPECT_EQ(said([&] {
              read(closed, {{"depth", 8}});
            }),
            "net.onnx: `dim` depth: its inputs have no open dim");
}

}  // namespace
}  // namespace strata
