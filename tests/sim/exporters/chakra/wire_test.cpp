#include "sim/exporters/chakra/wire.h"

#include <array>

#include <gtest/gtest.h>

namespace strata {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (int value : values) text += static_cast<char>(value);
  return text;
}

// 300 is 10 0101100: the seven low bits first, the high bit of a byte for "more follows".
TEST(Wire, ANumberIsAKeyAndAVarint) {
  EXPECT_EQ(WireMessage().number(1, 300).bytes(), bytes({0x08, 0xac, 0x02}));
  EXPECT_EQ(WireMessage().number(29, 0).bytes(), bytes({0xe8, 0x01, 0x00}));
  EXPECT_EQ(WireMessage().number(1, ~std::uint64_t{0}).bytes(),
            bytes({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
}

TEST(Wire, TextsAndMessagesStandBehindTheirLength) {
  WireMessage inner;
  inner.text(2, "ab");
  EXPECT_EQ(inner.bytes(), bytes({0x12, 2, 'a', 'b'}));
  EXPECT_EQ(WireMessage().message(3, inner).bytes(), bytes({0x1a, 4, 0x12, 2, 'a', 'b'}));
  EXPECT_EQ(inner.delimited(), bytes({4, 0x12, 2, 'a', 'b'}));
}

TEST(Wire, AListIsPackedAndAnEmptyOneIsNothing) {
  const std::array<std::uint64_t, 2> two = {3, 300};
  EXPECT_EQ(WireMessage().numbers(5, two).bytes(), bytes({0x2a, 3, 3, 0xac, 0x02}));
  EXPECT_EQ(WireMessage().numbers(5, {}).bytes(), "");
}

// -2 is sign 1, exponent 1024, no fraction: c000000000000000, the lowest byte first.
TEST(Wire, ADoubleIsItsBits) {
  EXPECT_EQ(WireMessage().real(3, -2).bytes(), bytes({0x19, 0, 0, 0, 0, 0, 0, 0, 0xc0}));
}

}  // namespace
}  // namespace strata
