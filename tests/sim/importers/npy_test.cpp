#include "sim/importers/npy/npy.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "sim/importers/npy/npy_header.h"
#include "sim/text/file.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using Shape = std::vector<std::int64_t>;
using Floats = NpyArray<float>;
using Integers = NpyArray<std::int64_t>;

template <std::size_t N>
std::string bytes(const char (&literal)[N]) {
  return std::string(literal, N - 1);  // zeros inside
}

// What numpy 1.24 wrote for small arrays: each head of theirs takes 128 bytes with its spaces.
std::string numpy(std::string head, const std::string& dict, const std::string& data) {
  head += dict;
  head.resize(127, ' ');
  return head + "\n" + data;
}

const std::string kV1 = bytes("\223NUMPY\001\000v\000");

std::string float_head(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
}

// (numpy.arange(6, dtype="<f4") / 2).reshape(2, 3)
const std::string kFloats =
    numpy(kV1, float_head("(2, 3)"),
          bytes("\000\000\000\000\000\000\000?\000\000\200?\000\000\300?\000\000\000@\000\000 @"));
const Floats kHalves{{2, 3}, {0, 0.5F, 1, 1.5F, 2, 2.5F}};

// numpy.array([1, -2, 1 << 40])
const std::string kLongs =
    numpy(kV1, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }",
          bytes("\001\000\000\000\000\000\000\000\376\377\377\377\377\377\377\377\000\000\000\000"
                "\000\001\000\000"));

Floats floats(const std::string& text) {
  return parse_npy_floats(text, "x.npy");
}
Integers integers(const std::string& text) {
  return parse_npy_integers(text, "x.npy");
}
std::string error_of(const std::string& text) {
  return said([&] { floats(text); });
}

TEST(Npy, ReadsTheFloatsThatNumpyWrote) {
  EXPECT_EQ(floats(kFloats), kHalves);
  // numpy.array(1.5, "f4"), numpy.zeros((0, 3), "f4"), numpy.ones((1, 1, 2, 1, 1, 1), "f4")
  EXPECT_EQ(floats(numpy(kV1, float_head("()"), bytes("\000\000\300?"))), (Floats{{}, {1.5F}}));
  EXPECT_EQ(floats(numpy(kV1, float_head("(0, 3)"), "")), (Floats{{0, 3}, {}}));
  EXPECT_EQ(
      floats(numpy(kV1, float_head("(1, 1, 2, 1, 1, 1)"), bytes("\000\000\200?\000\000\200?"))),
      (Floats{{1, 1, 2, 1, 1, 1}, {1, 1}}));
}

TEST(Npy, ReadsEveryVersionOfTheFormat) {
  const std::string one = float_head("(1,)"), data = bytes("\000\000\300?");
  EXPECT_EQ(floats(numpy(bytes("\223NUMPY\002\000t\000\000\000"), one, data)),
            (Floats{{1}, {1.5F}}));
  EXPECT_EQ(floats(numpy(bytes("\223NUMPY\003\000t\000\000\000"), one, data)),
            (Floats{{1}, {1.5F}}));
}

// numpy.array([0.1, -1e-3])
TEST(Npy, RoundsDoublesToTheNearestFloat) {
  EXPECT_EQ(floats(numpy(kV1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
                         bytes("\232\231\231\231\231\231\271?\374\251\361\322MbP\277"))),
            (Floats{{2}, {0.1F, -1e-3F}}));
}

// numpy.array([[1, -2], [3, 4]], "<i4"), numpy.array([[[0, 255], [7, 128]]], "u1")
TEST(Npy, ReadsTheIntegersThatNumpyWrote) {
  const std::string ints =
      numpy(kV1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }",
            bytes("\001\000\000\000\376\377\377\377\003\000\000\000\004\000\000\000"));
  const std::string image =
      numpy(kV1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 2), }",
            bytes("\000\377\007\200"));
  EXPECT_EQ(integers(kLongs), (Integers{{3}, {1, -2, std::int64_t{1} << 40}}));
  EXPECT_EQ(integers(ints), (Integers{{2, 2}, {1, -2, 3, 4}}));
  EXPECT_EQ(integers(image), (Integers{{1, 2, 2}, {0, 255, 7, 128}}));
  EXPECT_EQ(floats(image), (Floats{{1, 2, 2}, {0, 255, 7, 128}}));
}

TEST(Npy, WritesWhatNumpyWrites) {
  EXPECT_EQ(print_npy(kHalves.shape, kHalves.values), kFloats);
  const Integers longs = integers(kLongs);
  EXPECT_EQ(print_npy(longs.shape, longs.values), kLongs);
  EXPECT_EQ(print_npy({}, std::vector<float>{1.5F}),
            numpy(kV1, float_head("()"), bytes("\000\000\300?")));
}

TEST(Npy, AcceptsADictInAnyOrderAndEitherQuote) {
  const std::string dict = "{\"shape\":(2,3),'fortran_order':False ,\n \"descr\": \"<f4\"}";
  EXPECT_EQ(floats(numpy(kV1, dict, kFloats.substr(128))), kHalves);
}

TEST(Npy, RefusesOtherTypesAndOrders) {
  const std::string allowed = "; allowed: '<f4', '<f8', '|u1' (numpy.float32, float64, uint8)";
  EXPECT_EQ(error_of(numpy(kV1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
                           bytes("?\200\000\000"))),
            "x.npy: its elements are '>f4'" + allowed);
  EXPECT_EQ(error_of(kLongs), "x.npy: its elements are '<i8'" + allowed);
  EXPECT_EQ(said([] { integers(kFloats); }),
            "x.npy: its elements are '<f4'; allowed: '<i8', '<i4', '|u1' (numpy.int64, int32, "
            "uint8)");
  EXPECT_EQ(error_of(numpy(kV1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }",
                           std::string(16, '\0'))),
            "x.npy: it is in Fortran order; allowed: C order, as numpy.ascontiguousarray gives it");
  EXPECT_EQ(
      error_of(numpy(kV1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
                     std::string(4, '\0'))),
      "x.npy: the header is wrong at its byte 10: it must have a string there; allowed: what "
      "numpy.save writes for numbers");
}

TEST(Npy, RefusesWhatIsNoSuchFile) {
  const std::string start =
      "x.npy: it does not begin as an .npy file; allowed: what numpy.save "
      "writes";
  EXPECT_EQ(error_of(""), start);
  EXPECT_EQ(error_of("PK\003\004"), start);
  EXPECT_EQ(error_of("\223NUMPY"), start);
  EXPECT_EQ(error_of(bytes("\223NUMPY\004\000")),
            "x.npy: it is of version 4.0; allowed: 1.0, 2.0, 3.0");
  EXPECT_EQ(error_of(bytes("\223NUMPY\001\001v\000")),
            "x.npy: it is of version 1.1; allowed: 1.0, 2.0, 3.0");
}

// Cut anywhere or longer by a byte, it is refused; only within the header is that another message.
TEST(Npy, RefusesEveryOtherLength) {
  for (std::size_t size = 8; size < 128; ++size) {
    EXPECT_EQ(error_of(kFloats.substr(0, size)),
              "x.npy: it ends within its header; allowed: a complete file");
  }
  for (std::size_t size = 128; size < kFloats.size(); ++size) {
    EXPECT_EQ(error_of(kFloats.substr(0, size)),
              "x.npy: 2x3 of '<f4' does not take the " + std::to_string(size - 128) +
                  " bytes that follow the header; allowed: a complete file of one array");
  }
  EXPECT_NE(error_of(kFloats + "x"), "");
  EXPECT_EQ(error_of(numpy(kV1, float_head("()"), "")),
            "x.npy: a single element of '<f4' does not take the 0 bytes that follow the header; "
            "allowed: a complete file of one array");
}

TEST(Npy, RefusesShapesThatNoMemoryHolds) {
  for (const char* shape : {"(4294967296, 4294967296)", "(9223372036854775807, 3)",
                            "(4611686018427387905,)"}) {  // 4 bytes each: 2^64 + 4
    EXPECT_NE(error_of(numpy(kV1, float_head(shape), bytes("\000\000\300?"))), "") << shape;
  }
  EXPECT_EQ(floats(numpy(kV1, float_head("(4294967296, 4294967296, 0)"), "")).values.size(), 0U);
}

TEST(Npy, RefusesMalformedHeaders) {
  const auto expected = [](const std::string& dict) {
    const std::string message = error_of(numpy(kV1, dict, kFloats.substr(128)));
    const std::size_t begin = message.find("must have ") + 10;
    return message.substr(begin, message.find(" there;") - begin);
  };
  const std::string keys = "one of 'descr', 'fortran_order' and 'shape', each once,";
  EXPECT_EQ(expected(""), "'{'");
  EXPECT_EQ(expected("{}"), "all of 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(expected("{'descr': '<f4'"), "'}'");
  EXPECT_EQ(expected("{'descr': '<f4', 'descr': '<f4', "), keys);
  EXPECT_EQ(expected("{'dtype': '<f4', "), keys);
  EXPECT_EQ(expected("{'descr': '<f4"), "a plain character");  // the line ends first
  EXPECT_EQ(expected("{'descr': '<f4\001'"), "a plain character");
  EXPECT_EQ(expected("{'fortran_order': 0"), "True or False");
  EXPECT_EQ(expected("{'shape': [2, 3]"), "'('");
  EXPECT_EQ(expected("{'shape': (6)"), "','");
  EXPECT_EQ(expected("{'shape': (2, -3)"), "an extent from 0 to 2^63 - 1");
  EXPECT_EQ(expected("{'shape': (9223372036854775808,)"), "an extent from 0 to 2^63 - 1");
  EXPECT_EQ(expected("{'shape': (2, 3.5)"), "')'");
  EXPECT_EQ(expected(float_head("(2, 3)") + " x"), "nothing but spaces");
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  EXPECT_EQ(expected("{'shape': " + many + ")"), "at most 32 extents");
}

TEST(Npy, RefusesDoublesBeyondAFloat) {
  const auto doubles = [](double value) {
    std::string data(8, '\0');
    std::memcpy(data.data(), &value, 8);
    return numpy(kV1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", data);
  };
  EXPECT_EQ(error_of(doubles(1e300)),
            "x.npy: element 0 is 1e+300; allowed: what a float32 holds, at most 3.4e38");
  EXPECT_NE(error_of(doubles(-3.5e38)), "");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(floats(doubles(infinity)).values[0], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(floats(doubles(std::nan(""))).values[0]));
  EXPECT_EQ(floats(doubles(1e-300)).values[0], 0);
}

// Seed 7: random shapes and numbers, bit patterns among them that are no numbers.
TEST(Npy, PrintedReadsBackEqualToTheBit) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Shape shape(random() % 6);
    std::size_t count = 1;
    for (std::int64_t& extent : shape) count *= static_cast<std::size_t>(extent = random() % 5);
    std::vector<float> values(count);
    for (float& value : values) {
      const auto pattern = static_cast<std::uint32_t>(random());
      std::memcpy(&value, &pattern, 4);
    }
    const std::string text = print_npy(shape, values);
    EXPECT_EQ(text.size(), parse_npy_header(text, "x.npy").size + 4 * count);
    EXPECT_EQ((text.size() - 4 * count) % 64, 0U);
    const Floats back = floats(text);
    EXPECT_EQ(back.shape, shape);
    EXPECT_EQ(print_npy(back.shape, back.values), text);  // as bytes: a NaN is unequal to itself
  }
}

TEST(Npy, FilesAreWrittenAndRead) {
  const std::string file = testing::TempDir() + "strata_npy_test.npy";
  write_npy(file, kHalves.shape, kHalves.values);
  EXPECT_EQ(read_file(file), kFloats);
  EXPECT_EQ(read_npy_floats(file), kHalves);
  write_npy(file, Shape{2}, std::vector<std::int64_t>{3, -4});
  EXPECT_EQ(read_npy_integers(file), (Integers{{2}, {3, -4}}));
  std::remove(file.c_str());
  EXPECT_EQ(said([&] { read_npy_floats(file); }),
            file + ": cannot be read: No such file or directory");
}

}  // namespace
}  // namespace strata
