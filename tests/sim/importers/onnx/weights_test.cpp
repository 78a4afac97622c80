// The values of parameters: their types, their orders, and the files that hold them.

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/importers/onnx/model.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using testing::Dims;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Model;

using Values = std::vector<float>;

// x (1, 2) times w (3, 2), and a bias where all are float32; the tensors may be changed.
class OneLayer {
 public:
  explicit OneLayer(onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT) {
    net.weight("w", {3, 2});
    net.weight("b", {3}, {10, 20, 30});
    const bool floats = type == onnx::TensorProto::FLOAT;
    net.node("Gemm", floats ? testing::Names{"x", "w", "b"} : testing::Names{"x", "w"}, "y")(
        "transB", 1);
    net.input("x", {1, 2}).output("y");
    net.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    weight().set_data_type(type);
    if (!floats) weight().clear_float_data();
  }
  onnx::TensorProto& weight() { return *net.graph().mutable_initializer(0); }
  Values values() const { return net.read(1, OnnxWeights::read).weights[1]; }

  Model net;
};

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(OnnxWeights, AreAWeightAndThenABias) {
  EXPECT_THAT(OneLayer().values(), ElementsAre(0, 1, 2, 3, 4, 5, 10, 20, 30));
}

TEST(OnnxWeights, AreSkippedUnlessAskedFor) {
  EXPECT_THAT(OneLayer().net.read(1).weights, ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(OnnxWeights, ComeInFourTypes) {
  OneLayer doubles(onnx::TensorProto::DOUBLE);
  for (const double value : {0.1, 1.0, 2.0, 3.0, 4.0, -0.5})
    doubles.weight().add_double_data(value);
  EXPECT_THAT(doubles.values(), ElementsAre(0.1F, 1, 2, 3, 4, -0.5F));

  OneLayer halves(onnx::TensorProto::FLOAT16);  // 1, -2, 65504, 2^-14, 2^-24 and -0
  halves.weight().set_raw_data(
      raw(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000}));
  EXPECT_THAT(halves.values(), ElementsAre(1, -2, 65504, 0x1p-14F, 0x1p-24F, 0));

  OneLayer brains(onnx::TensorProto::BFLOAT16);
  for (const int bits : {0x3f80, 0xc000, 0x4049, 0, 0, 0}) brains.weight().add_int32_data(bits);
  EXPECT_THAT(brains.values(), ElementsAre(1, -2, 3.140625F, 0, 0, 0));

  OneLayer bytes;
  bytes.weight().clear_float_data();
  bytes.weight().set_raw_data(raw(Values{5, 4, 3, 2, 1, 0}));
  EXPECT_THAT(bytes.values(), ElementsAre(5, 4, 3, 2, 1, 0, 10, 20, 30));
}

// (I, O) becomes (O, I).
TEST(OnnxWeights, OfProductsAreTurned) {
  Model net;
  net.weight("w", {2, 3});
  net.weight("v", {4, 3});
  net.node("MatMul", {"x", "w"}, "a");
  net.node("Transpose", {"v"}, "turned");
  net.node("Gemm", {"a", "turned"}, "y");
  net.input("x", {1, 2}).output("y");
  const OnnxModel model = net.read(1, OnnxWeights::read);
  EXPECT_THAT(model.weights[1], ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(model.weights[2], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

// The trap: exporters share equal initializers so.
TEST(OnnxWeights, AreSharedThroughIdentities) {
  Model net;
  net.weight("w", {2, 2});
  net.weight("zeros", {2}, {0, 0});
  net.node("Identity", {"zeros"}, "b1");
  net.node("Identity", {"b1"}, "b2");
  net.node("Gemm", {"x", "w", "b1"}, "a");
  net.node("Gemm", {"a", "w", "b2"}, "y");
  net.input("x", {1, 2}).output("y");
  const OnnxModel model = net.read(1, OnnxWeights::read);
  EXPECT_EQ(model.graph.parameters(), 12);
  EXPECT_THAT(model.weights[1], ElementsAre(0, 2, 1, 3, 0, 0));
  EXPECT_THAT(model.weights[2], ElementsAre(0, 2, 1, 3, 0, 0));
}

TEST(OnnxWeights, OfStrippedModelsAreMissing) {
  OneLayer stripped;
  stripped.weight().clear_float_data();
  const OnnxModel model = stripped.net.read(1, OnnxWeights::read);
  EXPECT_EQ(model.graph.parameters(), 9);
  EXPECT_THAT(model.weights, ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(model.notes,
              ElementsAre("the file has no values for the parameters of 1 of 1 layers"));
}

// torch.onnx.export(..., export_params=False)
TEST(OnnxWeights, MayBeInputs) {
  Model net;
  net.input("x", {1, 2}).input("w", {3, 2}).output("y");
  net.node("Gemm", {"x", "w"}, "y")("transB", 1);
  const OnnxModel model = net.read(1, OnnxWeights::read);
  EXPECT_EQ(model.graph.parameters(), 6);
  EXPECT_THAT(model.weights[1], IsEmpty());
}

TEST(OnnxWeights, ThatDoNotFitTheirDimsAreRefused) {
  OneLayer few;
  few.weight().mutable_float_data()->RemoveLast();
  EXPECT_EQ(said([&] { few.values(); }),
            "net.onnx: initializer 'w': it has 5 values; allowed: 6, as its dims say");
  OneLayer bytes;
  bytes.weight().clear_float_data();
  bytes.weight().set_raw_data("abc");
  EXPECT_EQ(said([&] { bytes.values(); }),
            "net.onnx: initializer 'w': it has 3 bytes of values; allowed: 24, as its dims say");
  OneLayer infinite;
  infinite.weight().set_float_data(3, INFINITY);
  EXPECT_EQ(said([&] { infinite.values(); }),
            "net.onnx: initializer 'w': element 3 is inf; allowed: finite numbers of float32");
}

// A folder with a model whose weight stands in w.bin, beside it, and a file that it may not read.
class External : public ::testing::Test {
 protected:
  External() {
    fs::create_directories(folder_ / "models");
    const Values values = {9, 9, 0, 1, 2, 3, 4, 5};
    std::ofstream(folder_ / "models/w.bin", std::ios::binary) << raw(values);
    std::ofstream(folder_ / "secret.bin", std::ios::binary) << raw(values);
    fs::create_symlink("../secret.bin", folder_ / "models/link.bin");
  }
  ~External() override { fs::remove_all(folder_); }

  // What the layer's values are, or what is wrong with them.
  std::string read(const std::string& location, const std::string& offset = "8",
                   const std::string& length = "24") {
    OneLayer layer;
    onnx::TensorProto& tensor = layer.weight();
    tensor.clear_float_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                     {"offset", offset},
                                     {"length", length}}) {
      if (value.empty()) continue;
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    const std::string file = (folder_ / "models/net.onnx").string();
    std::ofstream(file, std::ios::binary) << layer.net.bytes();
    std::string result;
    const std::string wrong = said([&] {
      result = fmt::format("{}", fmt::join(read_onnx(file, 1, OnnxWeights::read).weights[1], " "));
    });
    return wrong.empty() ? result : wrong.substr(file.size() + 2);
  }

  const fs::path folder_ =
      fs::temp_directory_path() /
      fmt::format("strata-onnx-{}",
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(External, ValuesStandInAFileBeside) {
  EXPECT_EQ(read("w.bin"), "0 1 2 3 4 5 10 20 30");
  EXPECT_EQ(read("./w.bin", "8", ""), "0 1 2 3 4 5 10 20 30");
  EXPECT_EQ(read("w.bin", "", ""), "9 9 0 1 2 3 10 20 30");
}

TEST_F(External, ValuesNeverStandOutsideTheModelsFolder) {
  const auto refused = [](const std::string& location) {
    return fmt::format(
        "initializer 'w': its values are in '{}'; allowed: a file in the model's folder", location);
  };
  EXPECT_EQ(read("../secret.bin"), refused("../secret.bin"));
  EXPECT_EQ(read("../models/w.bin"), refused("../models/w.bin"));
  const std::string absolute = (folder_ / "models/w.bin").string();
  EXPECT_EQ(read(absolute), refused(absolute));
  EXPECT_EQ(read("link.bin"), refused("link.bin"));
  EXPECT_EQ(read("."), refused("."));
  EXPECT_EQ(read(""), refused(""));
}

// Of a shape, as exporters that keep all constants in one file write it.
TEST_F(External, IntegersMayStandThereToo) {
  const std::vector<std::int64_t> shape = {0, 6};
  std::ofstream(folder_ / "models/shape.bin", std::ios::binary) << raw(shape);
  Model net;
  auto& tensor = *net.graph().add_initializer();
  tensor.set_name("shape");
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("shape.bin");
  net.node("Reshape", {"x", "shape"}, "y");
  net.input("x", {1, 2, 3}).output("y");
  const std::string file = (folder_ / "models/net.onnx").string();
  std::ofstream(file, std::ios::binary) << net.bytes();
  EXPECT_THAT(testing::lines(read_onnx(file, 1).graph),
              ::testing::Contains("y flatten 6x1x1x1 < x"));
}

TEST_F(External, ValuesMustBeThere) {
  EXPECT_EQ(read("none.bin"),
            "initializer 'w': its values in 'none.bin' cannot be read: No such file or directory");
  EXPECT_EQ(read("w.bin", "16"),
            "initializer 'w': its 24 bytes from 16 on are not in 'w.bin', which has 32");
  EXPECT_EQ(read("w.bin", "9223372036854775807"),
            "initializer 'w': its 24 bytes from 9223372036854775807 on are not in 'w.bin', which "
            "has 32");
  EXPECT_EQ(read("w.bin", "8", "20"),
            "initializer 'w': its external data has 20 bytes; allowed: 24, as its dims say");
  EXPECT_EQ(read("w.bin", "-8"),
            "initializer 'w': the offset of its external data is '-8'; allowed: a number of bytes");
}

// One nn.Linear that is called twice, and a third layer of the same dims.
TEST(OnnxWeights, LayersThatShareATensorAreToldOf) {
  const auto notes = [](const char* third) {
    Model net;
    for (const char* name : {"v", "w"}) net.weight(name, {4, 4});
    net.node("Identity", {"w"}, "copy");
    net.node("Gemm", {"x", "w"}, "a")("transB", 1);
    net.node("Gemm", {"a", third}, "b")("transB", 1);
    net.node("Gemm", {"b", "v"}, "y")("transB", 1);
    net.input("x", {0, 4}).output("y");
    return net.read().notes;
  };
  EXPECT_THAT(notes("w"), ElementsAre("2 layers share parameters; here each has its own, which are "
                                      "trained apart"));
  EXPECT_THAT(notes("copy"), IsEmpty());
}

}  // namespace
}  // namespace strata
