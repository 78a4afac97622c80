#include "sim/timeline/timeline.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

Span span(double start, double end) {
  return {{start}, {start}, {end}};
}

TEST(Timeline, StepTimeIsTheMeanOverTheSecondHalf) {
  // Four steps of one task that end at 10, 14, 17 and 20: the last two intervals take 3 each.
  const Timeline timeline(1, {span(0, 10), span(10, 14), span(14, 17), span(17, 20)});
  EXPECT_EQ(timeline.steps(), 4u);
  EXPECT_EQ(timeline.step_seconds(), Seconds{3});
  EXPECT_EQ(timeline.makespan(), Seconds{20});
}

TEST(Timeline, IntervalsLieBetweenTheEndsOfAWindowsSteps) {
  const Timeline timeline(1, {span(0, 10), span(10, 14), span(14, 17), span(17, 20)});
  EXPECT_EQ(timeline.step_intervals({0, 3}), (std::vector<Seconds>{{4}, {3}, {3}}));
  EXPECT_EQ(timeline.step_intervals({1, 2}), (std::vector<Seconds>{{3}}));
  EXPECT_EQ(timeline.step_intervals({2, 2}), std::vector<Seconds>{});
}

TEST(Timeline, OneStepIsItsMakespan) {
  const Timeline timeline(2, {span(0, 3), span(3, 5)});
  EXPECT_EQ(timeline.step_seconds(), Seconds{5});
}

TEST(Timeline, TwoStepsGiveTheirInterval) {
  const Timeline timeline(1, {span(0, 3), span(3, 5)});
  EXPECT_EQ(timeline.step_seconds(), Seconds{2});
}

}  // namespace
}  // namespace strata
