// What is wrong with a file is said, all of it, and nothing is read.

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::Dims;
using testing::Model;

// What is said of a sound model after a change. Its nodes: a Conv of w (4, 3, 3, 3), a Relu.
std::string changed(const std::function<void(Model&)>& change, int opset = 13) {
  Model net(opset);
  net.input("x", {1, 3, 8, 8}).output("y");
  net.weight("w", {4, 3, 3, 3});
  net.node("Conv", {"x", "w"}, "a");
  net.node("Relu", {"a"}, "y");
  change(net);
  return said([&] { net.read(); });
}

onnx::NodeProto& convolution(Model& net) {
  return *net.graph().mutable_node(0);
}

TEST(OnnxMalformed, TheModelThatIsChangedIsSound) {
  EXPECT_EQ(changed([](Model&) {}), "");
}

TEST(OnnxMalformed, BytesOfSomethingElse) {
  const auto parse = [](std::string_view bytes) {
    return said([&] { parse_onnx(bytes, "net.onnx", 1); });
  };
  const std::string no_onnx =
      "net.onnx: it is no ONNX file, or ends too early; allowed: ONNX's protobuf";
  EXPECT_EQ(parse("name = \"toml\""), no_onnx);
  EXPECT_EQ(parse(""), "net.onnx: it holds no graph; allowed: what ONNX exporters write");
  Model net;
  net.input("x", {1, 3}).output("y");
  net.node("Relu", {"x"}, "y");
  const std::string bytes = net.bytes();
  for (std::size_t size = 1; size + 1 < bytes.size(); ++size)
    EXPECT_NE(parse(std::string_view(bytes).substr(0, size)), "") << size;
}

TEST(OnnxMalformed, AxesThatAreNoIntegers) {
  Model net(18);
  net.input("x", {1, 8, 4}).output("y");
  net.weight("numbers", {1}, {1e38F});
  net.node("Neg", {"numbers"}, "axes");
  net.node("ReduceMean", {"x", "axes"}, "y");
  EXPECT_EQ(
      said([&] { net.read(); }),
      "net.onnx: node y (ReduceMean): its input 'axes' is computed; allowed: an initializer or "
      "a constant");
}

// ONNX's library checks the nodes of its opsets alone.
TEST(OnnxMalformed, InputsThatAreMissingInNewerOpsets) {
  const auto without = [](const std::string& op, const testing::Names& inputs) {
    Model net(18);
    net.input("x", {1, 8, 4}).output("y");
    net.node("Relu", {"x"}, "a");
    net.node(op, inputs, "y");
    return said([&] { net.read(); });
  };
  EXPECT_EQ(without("IsNaN", {"", "a"}), "net.onnx: node y (IsNaN): it has no input 0");
  EXPECT_EQ(without("Attention", {"a"}), "net.onnx: node y (Attention): it has no input 1");
}

// ONNX's shape inference would divide by them.
TEST(OnnxMalformed, PartsAndBlocksOfNoSize) {
  Model parts(13);
  parts.input("x", {1, 8, 4}).output("y").integers("none", {0});
  parts.graph().mutable_initializer(0)->clear_dims();
  parts.node("Shape", {"x"}, "shape");
  parts.node("SplitToSequence", {"shape", "none"}, "sequence");
  parts.node("Relu", {"x"}, "y");
  EXPECT_EQ(
      said([&] { parts.read(); }),
      "net.onnx: node sequence (SplitToSequence): its parts have sizes (0); allowed: from 1 on");
  Model blocks(13);
  blocks.input("x", {1, 8, 4, 4}).output("y");
  auto& attribute =
      *blocks.node("DepthToSpace", {"x"}, "y")("blocksize", 2).proto().mutable_attribute(0);
  attribute.set_i(std::int64_t{1} << 32);
  EXPECT_EQ(said([&] { blocks.read(); }),
            "net.onnx: node y (DepthToSpace): blocksize is 4294967296; allowed: 1 to 1048576");
}

TEST(OnnxMalformed, NumbersWithoutDims) {
  Model net(13);
  net.input("x", {1, 1}).output("y");
  net.node("Squeeze", {"x"}, "number");
  net.node("Relu", {"number"}, "y");
  EXPECT_EQ(
      said([&] { net.read(1); }),
      "net.onnx: node y (Relu): its input 'number' has axes that are several dims of a layer's; "
      "allowed: what an attention or a product reads");
}

// ONNX's shape inference would read before or behind their dims.
TEST(OnnxMalformed, SignalsAndPointsOfOtherDims) {
  Model signal(17);
  signal.input("x", {1, 8}).output("y").integers("step", {4});
  signal.node("STFT", {"x", "step"}, "y");
  EXPECT_EQ(said([&] { signal.read(); }),
            "net.onnx: node y (STFT): its signal has 2 dims; allowed: three");
  Model unknown(17);  // of how many numbers
  unknown.input("x", {1, 8}).output("y").integers("step", {4});
  unknown.node("Unique", {"x"}, "numbers");
  unknown.node("STFT", {"numbers", "step"}, "y");
  EXPECT_EQ(said([&] { unknown.read(); }),
            "net.onnx: node y (STFT): its signal has 1 dims; allowed: three");
  Model points(13);
  points.input("x", {1, 8, 4}).output("y").integers("at", {1});
  points.node("GatherND", {"x", "at"}, "y")("batch_dims", -3);
  EXPECT_EQ(said([&] { points.read(); }),
            "net.onnx: node y (GatherND): batch_dims is -3; allowed: from 0 on");
}

TEST(OnnxMalformed, Opsets) {
  const auto opset = [](int version) { return changed([](Model&) {}, version); };
  EXPECT_EQ(opset(24), "net.onnx: it was exported with opset 24; allowed: 7 to 23");
  EXPECT_EQ(opset(6), "net.onnx: it was exported with opset 6; allowed: 7 to 23");
  for (const int read : {7, 17, 18, 23}) EXPECT_EQ(opset(read), "");
  EXPECT_EQ(changed([](Model& net) { net.proto.clear_opset_import(); }),
            "net.onnx: it does not say its opset; allowed: 7 to 23");
}

TEST(OnnxMalformed, OpsThatAreNotReadAreCountedAllAtOnce) {
  EXPECT_EQ(changed([](Model& net) {
              net.node("Exp", {"y"}, "r1");
              for (const char* name : {"e1", "e2", "e3", "e4"}) net.node("Cos", {"y"}, name);
              net.node("Magic", {"y"}, "m").proto().set_domain("com.example");
              for (const char* name : {"r1", "e1", "e2", "e3", "e4", "m"}) net.output(name);
              convolution(net).set_op_type("Convolve\n");
            }),
            "net.onnx: op Convolve? is not supported: 1 node (a)\n"
            "net.onnx: op Cos is not supported: 4 nodes (e1, e2, e3, ...); allowed: to predict, "
            "with `allow_unsupported`\n"
            "net.onnx: op Exp is not supported: 1 node (r1); allowed: to predict, with "
            "`allow_unsupported`\n"
            "net.onnx: op com.example.Magic is not supported: 1 node (m)");
}

TEST(OnnxMalformed, Names) {
  EXPECT_EQ(changed([](Model& net) { convolution(net).set_input(0, "z"); }),
            "net.onnx: node a (Conv): reads 'z', which nothing before it writes; allowed: nodes in "
            "topological order, without cycles");
  EXPECT_EQ(changed([](Model& net) { convolution(net).set_input(0, "y"); }),
            "net.onnx: node a (Conv): reads 'y', which nothing before it writes; allowed: nodes in "
            "topological order, without cycles");
  EXPECT_EQ(changed([](Model& net) { net.node("Relu", {"x"}, "a"); }),
            "net.onnx: the name 'a' is given twice; allowed: each value once");
  EXPECT_EQ(changed([](Model& net) { net.weight("w", {1}); }),
            "net.onnx: the name 'w' is given twice; allowed: each value once");
  EXPECT_EQ(changed([](Model& net) { net.graph().mutable_output(0)->set_name("z"); }),
            "net.onnx: output 'z' is not written");
  EXPECT_EQ(changed([](Model& net) { net.graph().clear_output(); }),
            "net.onnx: its graph has no output");
  EXPECT_EQ(changed([](Model& net) { net.graph().clear_node(); }),
            "net.onnx: its graph has no node");
}

TEST(OnnxMalformed, Inputs) {
  const auto changed_to = [](const Dims& dims) {
    return changed([&](Model& net) {
      net.graph().clear_input();
      net.input("x", dims);
    });
  };
  EXPECT_EQ(changed_to({1, 3, 8, 0}),
            "net.onnx: input 'x': its dim 'batch' is open; allowed: numbers, but for the batch; "
            "`dim` batch=N gives one");
  EXPECT_EQ(changed_to({1}),
            "net.onnx: input 'x': it has 1 dim; allowed: (n, c), (n, c, w), (n, c, h, w), (n, c, "
            "d, h, w)");
  EXPECT_EQ(changed_to({1, 3, 8, std::int64_t{1} << 40}),
            "net.onnx: input 'x': its dim 3 is 1099511627776; allowed: 1 to 2147483648");
  EXPECT_EQ(changed([](Model& net) { net.graph().mutable_input(0)->clear_type(); }),
            "net.onnx: input 'x': it does not say its shape");
  EXPECT_EQ(changed([](Model& net) {
              net.input("z", {5, 4, 6, 6});
              net.node("Add", {"a", "z"}, "sum");
            }),
            "net.onnx: input 'z': its batch is 5; allowed: 1, as the inputs before it");
}

TEST(OnnxMalformed, NodesByOnnxsOwnChecker) {
  EXPECT_EQ(changed([](Model& net) { convolution(net).clear_input(); }).substr(0, 60),
            "net.onnx: node a (Conv): ONNX's checker says: Node (a) has i");
  EXPECT_EQ(changed([](Model& net) { testing::Attributes(convolution(net))("colour", 3); }),
            "net.onnx: node a (Conv): ONNX's checker says: Unrecognized attribute: colour for "
            "operator Conv");
  EXPECT_THAT(changed([](Model& net) { testing::Attributes(convolution(net))("strides", 2); }),
              ::testing::StartsWith("net.onnx: node a (Conv): ONNX's checker says: "));
  EXPECT_EQ(
      changed([](Model& net) { testing::Attributes(convolution(net))("group", 1)("group", 2); }),
      "net.onnx: node a (Conv): attribute group is given twice");
}

TEST(OnnxMalformed, Windows) {
  const auto window = [](const char* name, const Dims& values) {
    return changed([&](Model& net) { testing::Attributes(convolution(net))(name, values); });
  };
  EXPECT_EQ(window("strides", {0, 1}),
            "net.onnx: node a (Conv): strides has 0; allowed: 1 to 1048576");
  EXPECT_EQ(window("dilations", {1, -1}),
            "net.onnx: node a (Conv): dilations has -1; allowed: 1 to 1048576");
  EXPECT_EQ(window("pads", {0, 0, -1, 0}),
            "net.onnx: node a (Conv): pads has -1; allowed: 0 to 1048576");
  EXPECT_THAT(window("strides", {1, 1, 1}), ::testing::HasSubstr("strides"));
  EXPECT_NE(window("kernel_shape", {9, 9}), "");
}

TEST(OnnxMalformed, Weights) {
  const auto changed_to = [](const Dims& dims) {
    return changed([&](Model& net) {
      auto& tensor = *net.graph().mutable_initializer(0);
      tensor.mutable_dims()->Assign(dims.begin(), dims.end());
    });
  };
  EXPECT_EQ(changed_to({4, 2, 3, 3}),
            "net.onnx: node a (Conv): its weight 'w' is (4, 2, 3, 3); allowed: (4, 3, 3, 3)");
  EXPECT_EQ(changed_to({-4, 3, 3, 3}),
            "net.onnx: initializer 'w': its dims are (-4, 3, 3, 3); allowed: "
            "at most 281474976710656 elements");
  EXPECT_THAT(changed_to({4, 3}), ::testing::StartsWith("net.onnx: "));
  EXPECT_EQ(changed([](Model& net) { convolution(net).set_input(1, "x"); }),
            "net.onnx: node a (Conv): its input 'x' is computed; allowed: an initializer or a "
            "constant");
}

TEST(OnnxMalformed, AllNodesThatFailAreToldAndNotWhatReadsThem) {
  EXPECT_EQ(changed([](Model& net) {
              net.constant("half", 0.5F);
              net.node("Mul", {"a", "half"}, "m");
              net.node("Relu", {"m"}, "reads_m");
              net.node("Gather", {"a", "i"}, "g");
              net.integers("i", {0});
              net.graph().mutable_output(0)->set_name("reads_m");
              net.output("g");
            }),
            "net.onnx: node m (Mul): allowed: of shapes, of what depends on the network's input, "
            "and in 0.5 x (1 + Erf(x / sqrt(2)))\n"
            "net.onnx: node g (Gather): allowed: of shapes and constants");
}

// The Add belongs to the MatMul before it.
TEST(OnnxMalformed, AProductThatFailsIsToldOnce) {
  EXPECT_EQ(
      changed([](Model& net) {
        net.weight("m", {6, 5});
        net.weight("b", {5});
        net.node("MatMul", {"y", "m"}, "p");
        net.node("Add", {"p", "b"}, "sum");
        net.node("Relu", {"sum"}, "end");
        net.output("end");
      }),
      "net.onnx: node p (MatMul): its input has 4 dims; allowed: (n, c), or (n, w, c) of tokens");
}

// What ONNX's own inference would read out of bounds.
TEST(OnnxMalformed, Ranks) {
  EXPECT_EQ(
      changed([](Model& net) { net.graph().mutable_initializer(0)->mutable_dims()->Truncate(3); }),
      "net.onnx: node a (Conv): its weight is (4, 3, 3), its input (1, 3, 8, 8); allowed: "
      "equally many dims");
  EXPECT_EQ(changed([](Model& net) {
              net.weight("flat", {4, 6});
              net.node("ConvTranspose", {"y", "flat"}, "up");
              net.output("up");
            }),
            "net.onnx: node up (ConvTranspose): its weight is (4, 6), its input (1, 4, 6, 6); "
            "allowed: equally many dims");
  EXPECT_EQ(changed([](Model& net) {
              net.node("Transpose", {"y"}, "t")("perm", Dims{0, 2, 1});
            }),
            "net.onnx: node t (Transpose): perm is (0, 2, 1); allowed: each axis of (1, 4, 6, 6) "
            "once");
  EXPECT_EQ(changed([](Model& net) {
              net.node("MaxPool", {"y"}, "p")("kernel_shape", Dims{2, 2, 2});
            }),
            "net.onnx: node p (MaxPool): its kernel has 3 dims, its input 2");
}

TEST(OnnxMalformed, OutputsThatAreNotOurs) {
  EXPECT_EQ(changed([](Model& net) {
              auto& pool = net.node("MaxPool", {"y"}, "p")("kernel_shape", Dims{2, 2}).proto();
              pool.add_output("places");
              net.output("p").output("places");
            }),
            "net.onnx: node p (MaxPool): its output 1 'places' is used; allowed: the first alone");
  EXPECT_EQ(changed([](Model& net) { net.output("w"); }),
            "net.onnx: output 'w' does not depend on the data");
}

TEST(OnnxMalformed, NumbersThatAreNotOurs) {
  const auto node = [](const char* op, const char* attribute, double value) {
    return changed(
        [&](Model& net) {
          net.node(op, {"y"}, "z")(attribute, value);
          net.output("z");
        },
        9);
  };
  EXPECT_EQ(node("Clip", "min", -1.0),
            "net.onnx: node z (Clip): it clips to -1 ... inf; allowed: 0 ... 6, 0 ... inf");
  EXPECT_EQ(node("HardSigmoid", "alpha", 0.2),
            "net.onnx: node z (HardSigmoid): alpha is 0.2, beta 0.5; allowed: 1/6 and 0.5");
  EXPECT_EQ(node("Dropout", "ratio", 1.5),
            "net.onnx: node z (Dropout): probability must be in [0, 1)");
}

}  // namespace
}  // namespace strata
