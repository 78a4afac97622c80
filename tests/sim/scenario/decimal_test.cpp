#include "sim/scenario/decimal.h"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Decimal, IsWhatTheFewestDigitsSay) {
  EXPECT_EQ(decimal_of(0.1), (Decimal{1, -1}));
  EXPECT_EQ(decimal_of(-12.5), (Decimal{-125, -1}));
  EXPECT_EQ(decimal_of(1e30), (Decimal{1, 30}));
  EXPECT_EQ(decimal_of(1.0 / 3), (Decimal{3333333333333333, -16}));
  EXPECT_EQ(decimal_of(-0.0), (Decimal{0, 0}));
  EXPECT_EQ(decimal_of(std::int64_t{-4200}), (Decimal{-42, 2}));
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(decimal_of(most), (Decimal{most, 0}));
}

TEST(Decimal, PrintsIntegersWithoutAPointAndAllElseShort) {
  EXPECT_EQ(print(Decimal{0, 0}), "0");
  EXPECT_EQ(print(Decimal{12, 3}), "12000");
  EXPECT_EQ(print(Decimal{-3, -1}), "-0.3");
  EXPECT_EQ(print(Decimal{1, 18}), "1000000000000000000");
  EXPECT_EQ(print(Decimal{1, 19}), "1e+19");  // 64 bits don't hold it
  EXPECT_EQ(print(Decimal{1, -7}), "1e-07");
}

TEST(Decimal, RandomDoublesComeBackToTheBit) {
  constexpr std::uint32_t kSeed = 20;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (value != value || value - value != 0) continue;
    EXPECT_EQ(value_of(decimal_of(value)), value);
    const std::string text = print(decimal_of(value));
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, value) << text;
  }
}

TEST(Decimal, ProductsAreExactOrNone) {
  EXPECT_EQ(product(decimal_of(0.1), decimal_of(0.1)), (Decimal{1, -2}));
  EXPECT_EQ(product(decimal_of(2.5), decimal_of(std::int64_t{4})), (Decimal{1, 1}));
  const Decimal third = decimal_of(1.0 / 3);
  EXPECT_EQ(product(third, third), std::nullopt);  // 32 digits
}

TEST(Decimal, AlignsToThePowerOfTheFinest) {
  const auto aligned = align(std::array{decimal_of(std::int64_t{2}), decimal_of(0.25), Decimal{}});
  ASSERT_TRUE(aligned);
  EXPECT_EQ(aligned->exponent, -2);
  EXPECT_TRUE(aligned->units == (std::vector<Wide>{200, 25, 0}));
  EXPECT_TRUE(align(std::array{Decimal{1, 0}, Decimal{1, 26}}));
  EXPECT_FALSE(align(std::array{Decimal{1, 0}, Decimal{1, 27}}));
}

TEST(Decimal, RatiosAreRoundedOnce) {
  EXPECT_EQ(print_ratio(6, 3, 0), "2");
  EXPECT_EQ(print_ratio(1, 3, 0), "0.3333333333333333");
  EXPECT_EQ(print_ratio(-2, 3, 0), "-0.6666666666666666");
  EXPECT_EQ(print_ratio(3, 2, -1), "0.15");
  EXPECT_EQ(print_ratio(1, 1'000'000, 0), "1e-06");
  EXPECT_EQ(print_ratio(1, 8, 3), "125");
  for (int a = -50; a <= 50; ++a) {
    for (int b = 1; b <= 50; ++b) {
      const double quotient = static_cast<double>(a) / b;  // rounded once, too
      EXPECT_EQ(print_ratio(a, b, 0), print(decimal_of(quotient))) << a << "/" << b;
    }
  }
}

}  // namespace
}  // namespace strata
