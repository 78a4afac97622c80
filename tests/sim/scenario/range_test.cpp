#include "sim/scenario/range.h"

#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/text/toml.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

RangeValues range_of(const std::string& members, std::size_t most = 1000) {
  const Document document = parse_toml("r = { " + members + " }", "s.toml");
  return read_range(document.table().table("r"), most);
}

std::string words(const std::string& members) {
  std::string text;
  for (const std::string& value : range_of(members).texts)
    text += (text.empty() ? "" : " ") + value;
  return text;
}

std::string range_error(const std::string& members, std::size_t most = 1000) {
  return said([&] { range_of(members, most); });
}

TEST(Range, ByStepPrintsWhatPeopleWouldWrite) {
  EXPECT_EQ(words("from = 0.1, to = 0.5, step = 0.1"), "0.1 0.2 0.3 0.4 0.5");
  EXPECT_EQ(words("from = 1, to = 10, step = 4"), "1 5 9");
  EXPECT_EQ(words("from = -0.3, to = 0.3, step = 0.1"), "-0.3 -0.2 -0.1 0 0.1 0.2 0.3");
  EXPECT_EQ(words("from = 1, to = 0.25, step = -0.25"), "1 0.75 0.5 0.25");
  EXPECT_EQ(words("from = 3, to = 3, step = 1"), "3");
  EXPECT_EQ(words("from = 1.0, to = 3.0, step = 1.0"), "1 2 3");
  EXPECT_EQ(words("from = 1e-6, to = 3e-6, step = 1e-6"), "1e-06 2e-06 3e-06");
  EXPECT_EQ(words("from = 9007199254740992, to = 9007199254740995, step = 1"),
            "9007199254740992 9007199254740993 9007199254740994 9007199254740995");
}

TEST(Range, WhatIsWithinABillionthOfAStepOfToIsTo) {
  // Three times 0.3333333333333333 is 0.9999999999999999, and with 14 digits, rounded up, it is
  // beyond 1.
  EXPECT_EQ(words("from = 0, to = 1, step = 0.3333333333333333"),
            "0 0.3333333333333333 0.6666666666666666 1");
  EXPECT_EQ(words("from = 0, to = 1, step = 0.33333333333334"),
            "0 0.33333333333334 0.66666666666668 1");
  EXPECT_EQ(words("from = 0, to = 1, step = 0.33333"), "0 0.33333 0.66666 0.99999");
  EXPECT_EQ(words("from = 0, to = 1, step = 0.33334"), "0 0.33334 0.66668");
  EXPECT_EQ(words("from = 1, to = 1.0000000000001, step = 1"), "1");
}

TEST(Range, ByCountHasBothEnds) {
  EXPECT_EQ(words("from = 0.5, to = 1, count = 6"), "0.5 0.6 0.7 0.8 0.9 1");
  EXPECT_EQ(words("from = 0.25, to = 1, count = 4"), "0.25 0.5 0.75 1");
  EXPECT_EQ(words("from = 1, to = 0, count = 4"), "1 0.6666666666666666 0.3333333333333333 0");
  EXPECT_EQ(words("from = 0.1, to = 0.2, count = 3"), "0.1 0.15 0.2");
  EXPECT_EQ(words("from = 7, to = 8, count = 2"), "7 8");
}

TEST(Range, ByFactorGrowsOrShrinks) {
  EXPECT_EQ(words("from = 1, to = 16, factor = 2"), "1 2 4 8 16");
  EXPECT_EQ(words("from = 1, to = 20, factor = 2"), "1 2 4 8 16");
  EXPECT_EQ(words("from = 1e-6, to = 0.01, factor = 10"), "1e-06 1e-05 0.0001 0.001 0.01");
  EXPECT_EQ(words("from = 4, to = 0.5, factor = 0.5"), "4 2 1 0.5");
  EXPECT_EQ(words("from = 1, to = 1.5, factor = 1.1"), "1 1.1 1.21 1.331 1.4641");
  EXPECT_EQ(words("from = 5, to = 5, factor = 3"), "5");
  EXPECT_EQ(words("from = 1, to = 1e300, factor = 1e100"), "1 1e+100 1e+200 1e+300");
  EXPECT_EQ(words("from = 1e300, to = 1.7e308, factor = 1e9"), "1e+300");  // the next is infinite
}

TEST(Range, ByAFactorThatIsRoundedTheLastIsHit) {
  // Twelve semitones are an octave: 1.0594630943592953^12 is 2 but for rounding.
  const RangeValues octave = range_of("from = 1, to = 2, factor = 1.0594630943592953");
  ASSERT_EQ(octave.texts.size(), 13U);
  EXPECT_EQ(octave.texts[1], "1.0594630943592953");
  EXPECT_EQ(octave.texts.back(), "2");
}

TEST(Range, AFormAUnitOrASuffixMakesTextsOfNumbers) {
  EXPECT_EQ(range_of("from = 1, to = 4, factor = 2, form = \"p100-{}x4\"").texts,
            (std::vector<std::string>{"p100-1x4", "p100-2x4", "p100-4x4"}));
  EXPECT_EQ(range_of("from = 12.5, to = 25, count = 2, unit = \"GB/s\"").texts,
            (std::vector<std::string>{"12.5 GB/s", "25 GB/s"}));
  EXPECT_EQ(range_of("from = 0.5, to = 1, step = 0.5, suffix = \"x\"").texts,
            (std::vector<std::string>{"0.5x", "1x"}));
  EXPECT_TRUE(range_of("from = 1, to = 2, step = 1").plain);
  EXPECT_FALSE(range_of("from = 1, to = 2, step = 1, suffix = \"x\"").plain);
  EXPECT_EQ(range_of("from = 1, to = 2, step = 1, unit = \"{}\"").texts,
            (std::vector<std::string>{"1 {}", "2 {}"}));
}

TEST(Range, RefusesWhatIsNone) {
  for (const auto& [members, error] : std::vector<std::pair<std::string, std::string>>{
           {"to = 1, step = 1", "missing key 'from'"},
           {"from = 1, step = 1", "missing key 'to'"},
           {"from = 1, to = 2", "a range needs one of 'step', 'count' and 'factor'"},
           {"from = 1, to = 2, step = 1, count = 2",
            "a range needs one of 'step', 'count' and 'factor'"},
           {"from = \"1\", to = 2, step = 1", "'from' must be a number; it is \"1\""},
           {"from = 1, to = 2, step = true", "'step' must be a number; it is true"},
           {"from = 1, to = 2, step = 0", "'step' must not be 0: the range would not end"},
           {"from = 1, to = 2, step = -1",
            "the range never comes to its 'to': step -1 leads away from it"},
           {"from = 1, to = 2, count = 1", "'count' must be an integer of at least 2; it is 1"},
           {"from = 1, to = 2, count = 2.5", "'count' must be an integer of at least 2; it is 2.5"},
           {"from = 2, to = 2, count = 2", "'count' values need a 'to' that is not the 'from'"},
           {"from = 1, to = 2, factor = 1", "'factor' must not be 1: the range would not end"},
           {"from = 1, to = 2, factor = 0.5",
            "the range never comes to its 'to': factor 0.5 leads away from it"},
           {"from = 2, to = 1, factor = 2",
            "the range never comes to its 'to': factor 2 leads away from it"},
           {"from = 0, to = 2, factor = 2",
            "a range by 'factor' must have a positive 'from', 'to' and 'factor'"},
           {"from = 1, to = 2, factor = -2",
            "a range by 'factor' must have a positive 'from', 'to' and 'factor'"},
           {"from = 1e-20, to = 1e20, count = 5",
            "the range's numbers lie too far apart; allowed: 27 digits from first to last"},
           {"from = 1, to = 2, step = 1, form = \"x\"",
            "'form' must be a text with one {} for the number; it is \"x\""},
           {"from = 1, to = 2, step = 1, form = \"{}x{}\"",
            "'form' must be a text with one {} for the number; it is \"{}x{}\""},
           {"from = 1, to = 2, step = 1, unit = \"\"",
            "'unit' must be a text that is not empty; it is \"\""},
           {"from = 1, to = 2, step = 1, unit = \"s\", suffix = \"x\"",
            "a range has at most one of 'form', 'unit' and 'suffix'"},
           {"from = 1, to = 2, steps = 1, step = 1",
            "unknown key 'steps'; allowed: form, unit, suffix, from, to, step, count, factor"},
       }) {
    EXPECT_EQ(range_error(members), "s.toml:1: " + error) << members;
  }
}

TEST(Range, HasNoMoreValuesThanAreAllowed) {
  const std::string error = "s.toml:1: a range of too many values; allowed: 5";
  EXPECT_EQ(range_error("from = 1, to = 5, step = 1", 5), "");
  EXPECT_EQ(range_error("from = 1, to = 6, step = 1", 5), error);
  EXPECT_EQ(range_error("from = 1, to = 6, count = 5", 5), "");
  EXPECT_EQ(range_error("from = 1, to = 6, count = 6", 5), error);
  EXPECT_EQ(range_error("from = 1, to = 16, factor = 2", 5), "");
  EXPECT_EQ(range_error("from = 1, to = 32, factor = 2", 5), error);
  EXPECT_EQ(range_error("from = 0, to = 1e17, step = 1e-9", 5), error);
  EXPECT_EQ(range_error("from = 1, to = 1e300, factor = 1.0000000000000002", 5), error);
  EXPECT_EQ(range_error("from = 1, to = 2, count = 9223372036854775807", 5), error);
}

TEST(Range, RandomStepsAreTheReckoningInWholeHundredths) {
  constexpr std::uint32_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int trial = 0; trial < 500; ++trial) {
    const int step = 1 + static_cast<int>(random() % 60);
    const int from = static_cast<int>(random() % 400) - 200;
    const int to = from + static_cast<int>(random() % 500);
    std::string expected;
    for (int at = from; at <= to; at += step) {
      // A quotient of integers is rounded once: the double next to the decimal.
      expected += fmt::format("{}{}", expected.empty() ? "" : " ", at / 100.0);
    }
    const auto hundredths = [](int n) {
      return fmt::format("{}{}.{:02}", n < 0 ? "-" : "", std::abs(n) / 100, std::abs(n) % 100);
    };
    EXPECT_EQ(words(fmt::format("from = {}, to = {}, step = {}", hundredths(from), hundredths(to),
                                hundredths(step))),
              expected);
  }
}

}  // namespace
}  // namespace strata
