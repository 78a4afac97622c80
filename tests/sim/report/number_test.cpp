#include "sim/report/number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sim/base/counter_random.h"
#include "sim/report/text_size.h"

namespace strata {
namespace {

TEST(ReportNumbers, ShortOnesHaveThreeDigitsAndAPrefix) {
  const struct {
    double value;
    const char* text;
  } table[] = {
      {0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {-1, "-1"},
      {12, "12"},
      {123, "123"},
      {999, "999"},
      {999.4, "999"},
      {999.6, "1k"},
      {1000, "1k"},
      {1234, "1.23k"},
      {-1234, "-1.23k"},
      {12'345, "12.3k"},
      {123'456, "123k"},
      {999'999, "1M"},
      {3.4e6, "3.4M"},
      {1e9, "1G"},
      {2.5e12, "2.5T"},
      {1e14, "100T"},
      {3.935e15, "3.94P"},
      {1.234e20, "123E"},
      {1.234e21, "1.23e21"},
      {0.5, "0.5"},
      {0.05, "0.05"},
      {0.012345, "0.0123"},
      {1e-4, "0.0001"},
      {1.239e-4, "0.000124"},
      {9.996e-5, "0.0001"},
      {2.5e-5, "2.5e-5"},
      {-1e-9, "-1e-9"},
      {10.01, "10"},
      {1.005e3, "1k"},
      {1.5, "1.5"},
  };
  for (const auto& [value, text] : table) EXPECT_EQ(short_number(value), text) << value;
}

TEST(ReportNumbers, ShortOnesOfManyDigitsKeepWhatTicksHave) {
  EXPECT_EQ(short_number(1'000'000.2, 12), "1.0000002M");
  EXPECT_EQ(short_number(0.3, 12), "0.3");
  EXPECT_EQ(short_number(250'000, 12), "250k");
}

TEST(ReportNumbers, ShortestReadsBackToTheBit) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(3), "3");
  EXPECT_EQ(shortest(-2.5), "-2.5");
  EXPECT_EQ(shortest(std::numeric_limits<double>::quiet_NaN()), "nan");
  std::cout << "seed 1\n";
  const CounterRandom random(1, "shortest");
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double value = random.normal(i) * std::pow(10, 40 * random.normal(i + 5000));
    EXPECT_EQ(std::stod(shortest(value)), value);
  }
}

TEST(ReportNumbers, DecimalsAreTheNearestDoubles) {
  EXPECT_EQ(decimal(3, -1), 0.3);  // 3 * 0.1 is another number
  EXPECT_EQ(decimal(-5, 2), -500);
  EXPECT_EQ(decimal(7, 300), 7e300);
}

TEST(ReportNumbers, CoordinatesHaveOneDecimal) {
  EXPECT_EQ(coordinate(1.26), "1.3");
  EXPECT_EQ(coordinate(700), "700.0");
}

// At 10 units an em: i is 0.3 em, M 0.95, a letter 0.6, a CJK character 1, others 0.65.
TEST(ReportTexts, WidthsAddUp) {
  EXPECT_DOUBLE_EQ(text_width("iMa", 10), 3 + 9.5 + 6);
  EXPECT_DOUBLE_EQ(text_width("\xE6\xBC\xA2\xC3\xA9", 10), 10 + 6.5);
  EXPECT_DOUBLE_EQ(text_width("", 10), 0);
}

TEST(ReportTexts, WhatDoesNotFitEndsInDots) {
  EXPECT_EQ(cut_text("aaaa", 24, 10), "aaaa");
  EXPECT_EQ(cut_text("aaaaa", 24, 10), "aa\xE2\x80\xA6");  // 6 + 6 + 10 of the dots
  EXPECT_EQ(cut_text("\xC3\xA9\xC3\xA9\xC3\xA9", 17, 10), "\xC3\xA9\xE2\x80\xA6");
  EXPECT_EQ(cut_text("aaaa", 0, 10), "\xE2\x80\xA6");
  EXPECT_EQ(cut_middle("aaaaa=1", 50, 10), "aaaaa=1");
  EXPECT_EQ(cut_middle("aaaaaaa=1", 44, 10),
            "aa\xE2\x80\xA6"
            "a=1");  // 6 + 6 + 10, and 22
  EXPECT_EQ(cut_middle("aaaa", 0, 10), "\xE2\x80\xA6");
}

}  // namespace
}  // namespace strata
