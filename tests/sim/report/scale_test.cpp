#include "sim/report/scale.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/counter_random.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::vector<double>;

// The step is the first of 1, 2, 5 times a power of ten that is at least a sixth of the range.
TEST(ReportTicks, OfALinearSideAreOneTwoFive) {
  const struct {
    Range range;
    Values ticks;
  } table[] = {
      {{0, 1}, {0, 0.2, 0.4, 0.6, 0.8, 1}},           // 1/6 -> 0.2
      {{0, 0.6}, {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}},  // 0.1
      {{0, 12}, {0, 2, 4, 6, 8, 10, 12}},             // 2
      {{0, 13}, {0, 5, 10}},                          // 2.17 -> 5
      {{-7, 8}, {-5, 0, 5}},                          // 2.5 -> 5
      {{1, 16}, {5, 10, 15}},                         // 2.5 -> 5
      {{0, 3.1e6}, {0, 1e6, 2e6, 3e6}},               // 0.52e6 -> 1e6
      {{2e-5, 9e-5}, {2e-5, 4e-5, 6e-5, 8e-5}},       // 1.17e-5 -> 2e-5
      {{1000, 1001}, {1000, 1000.2, 1000.4, 1000.6, 1000.8, 1001}},
  };
  for (const auto& [range, expected] : table) {
    EXPECT_EQ(ticks(range, false), expected) << range.low << " to " << range.high;
  }
}

// Three decades show themselves; else 1, 2, 5; else, within a decade, ticks as of a linear side.
TEST(ReportTicks, OfALogarithmicSideAreDecadesWhereThereAreEnough) {
  EXPECT_EQ(ticks({1, 1000}, true), (Values{1, 10, 100, 1000}));
  EXPECT_EQ(ticks({0.03, 200}, true), (Values{0.1, 1, 10, 100}));
  EXPECT_EQ(ticks({1, 50}, true), (Values{1, 2, 5, 10, 20, 50}));
  EXPECT_EQ(ticks({3, 30}, true), (Values{5, 10, 20}));
  EXPECT_EQ(ticks({16, 32}, true), (Values{20, 25, 30}));
  EXPECT_EQ(ticks({1e-6, 1e-3}, true), (Values{1e-6, 1e-5, 1e-4, 1e-3}));
}

TEST(ReportTicks, OfPowersOfTwoAreThose) {
  EXPECT_THAT(powers_of_two(Values{4, 1, 16, 4}), ElementsAre(1, 4, 16));
  EXPECT_THAT(powers_of_two(Values{4, 6}), IsEmpty());
  EXPECT_THAT(powers_of_two(Values{4}), IsEmpty());
  EXPECT_THAT(powers_of_two(Values{0, 4}), IsEmpty());
  Values many;
  for (int i = 0; i < 13; ++i) many.push_back(std::exp2(i));
  EXPECT_THAT(powers_of_two(many), IsEmpty());
}

TEST(ReportRanges, RoundOutToTicks) {
  EXPECT_EQ(rounded_out({0, 0.93}, false), (Range{0, 1}));
  EXPECT_EQ(rounded_out({0.31, 0.93}, false), (Range{0.2, 1}));
  // Steps of 2 would end at 0 and 14, which is a range for steps of 5.
  EXPECT_EQ(rounded_out({1.9, 12.1}, false), (Range{0, 15}));
  EXPECT_EQ(rounded_out({-3, 4}, false), (Range{-4, 4}));
  EXPECT_EQ(rounded_out({3, 70}, true), (Range{2, 100}));
  EXPECT_EQ(rounded_out({1, 100}, true), (Range{1, 100}));
}

TEST(ReportRanges, OfEqualValuesAreWidened) {
  EXPECT_EQ(widened({0, 0}, false), (Range{0, 1}));
  EXPECT_EQ(widened({4, 4}, false), (Range{2, 6}));
  EXPECT_EQ(widened({-4, -4}, false), (Range{-6, -2}));
  EXPECT_EQ(widened({4, 4}, true), (Range{2, 8}));
  EXPECT_EQ(widened({1, 2}, false), (Range{1, 2}));
  EXPECT_EQ(widened({0, 1e-308}, false), (Range{0, 1}));
  EXPECT_EQ(with_zero({3, 4}), (Range{0, 4}));
  EXPECT_EQ(with_zero({-3, -2}), (Range{-3, 0}));
}

TEST(ReportRanges, HoldWhatCanBeDrawn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool logarithmic : {false, true}) {
    for (double no : {kInfinity, -kInfinity, std::nan(""), 1e301}) {
      EXPECT_FALSE(drawable(no, logarithmic)) << no;
    }
    EXPECT_EQ(drawable(0, logarithmic), !logarithmic);
    EXPECT_EQ(drawable(-1, logarithmic), !logarithmic);
    EXPECT_TRUE(drawable(1, logarithmic));
    EXPECT_EQ(range_of({}, logarithmic), (logarithmic ? Range{1, 10} : Range{0, 1}));
  }
  EXPECT_EQ(range_of(Values{3, 1, 2}, false), (Range{1, 3}));
}

TEST(ReportScale, LiesEvenly) {
  const Scale linear{{10, 20}, false, 100, 300};
  EXPECT_DOUBLE_EQ(linear.at(10), 100);
  EXPECT_DOUBLE_EQ(linear.at(12.5), 150);
  EXPECT_DOUBLE_EQ(linear.at(20), 300);
  const Scale logarithmic{{1, 100}, true, 200, 0};
  EXPECT_DOUBLE_EQ(logarithmic.at(1), 200);
  EXPECT_DOUBLE_EQ(logarithmic.at(10), 100);
  EXPECT_DOUBLE_EQ(logarithmic.at(100), 0);
}

// Whatever the range: its ticks ascend and lie within, a rounded one begins and ends with one of
// them and holds the range, and there are neither two few of them nor too many.
TEST(ReportTicks, OfRandomRanges) {
  std::cout << "seed 2\n";
  const CounterRandom random(2, "ranges");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const bool logarithmic = i % 2 == 1;
    const double size = std::pow(10, 600 * random.uniform(4 * i) - 300);
    double low = size * (logarithmic ? random.uniform(4 * i + 1) : random.normal(2 * i + 1));
    if (!drawable(low, logarithmic)) low = 1;
    const double factor = std::pow(10, 12 * random.uniform(4 * i + 2));
    const double more = logarithmic ? low * factor : low + std::abs(low) / factor;
    const Range range = widened({low, std::min(more, 1e300)}, logarithmic);
    SCOPED_TRACE(testing::Message() << i << ": " << range.low << " to " << range.high);
    const Range out = rounded_out(range, logarithmic);
    EXPECT_LE(out.low, range.low);
    EXPECT_GE(out.high, range.high);
    EXPECT_EQ(rounded_out(out, logarithmic), out);
    const Values found = ticks(out, logarithmic);
    ASSERT_GE(found.size(), 2U);
    EXPECT_LE(found.size(), logarithmic ? 15U : 9U);
    for (std::size_t k = 1; k < found.size(); ++k) EXPECT_LT(found[k - 1], found[k]);
    EXPECT_GE(found.front(), out.low);
    EXPECT_LE(found.back(), out.high);
    if (logarithmic) continue;
    EXPECT_EQ(found.front(), out.low);
    EXPECT_EQ(found.back(), out.high);
  }
}

}  // namespace
}  // namespace strata
