// What a search says of a step, with round numbers: a bound of 90 ms.

#include "gui/models/search_text.h"

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

constexpr Seconds kBound{0.09};

// (100 - 90) / 100, (95 - 90) / 95.
TEST(SearchText, TheGapIsWhatTheFastestMaySave) {
  EXPECT_NEAR(gap_to(kBound, {0.1}).value(), 0.1, 1e-12);
  EXPECT_EQ(gap_text(kBound, {0.1}).toStdString(), "at most 10 % from the fastest");
  EXPECT_EQ(gap_text(kBound, {0.095}).toStdString(), "at most 5.3 % from the fastest");
  EXPECT_EQ(gap_text(kBound, {0.09001}).toStdString(), "at most 0.011 % from the fastest");
  EXPECT_EQ(gap_text(kBound, {9}).toStdString(), "at most 99 % from the fastest");
}

TEST(SearchText, WhatTakesAsLongAsTheBoundIsTheFastest) {
  EXPECT_EQ(gap_text(kBound, kBound).toStdString(), "proved to be the fastest");
  EXPECT_EQ(gap_text(kBound, {0.09 * (1 - 1e-9)}).toStdString(), "proved to be the fastest");
}

// A strategy that no search considers may be faster than all that it bounds.
TEST(SearchText, NothingIsSaidWhereNothingIsProved) {
  EXPECT_EQ(gap_to({}, {0.1}), std::nullopt);
  EXPECT_EQ(gap_to(kBound, {0.08}), std::nullopt);
  EXPECT_EQ(gap_text({}, {0.1}), QString());
}

TEST(SearchText, TellsTheBestSoFar) {
  EXPECT_EQ(found_so_far({.stage = "cost tables"}).toStdString(), "cost tables");
  EXPECT_EQ(found_so_far({.stage = "simulation", .best = 0.1}).toStdString(), "100 ms so far");
  EXPECT_EQ(found_so_far({.stage = "simulation", .best = 0.1, .lower_bound = 0.09}).toStdString(),
            "100 ms so far, at most 10 % from the fastest");
}

}  // namespace
}  // namespace strata::gui
