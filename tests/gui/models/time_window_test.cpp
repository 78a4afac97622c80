// What of the time is on the screen, and its ticks.

#include "gui/models/timeline/time_window.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

TEST(TimeWindowTest, ZoomKeepsTheTimeUnderTheMouse) {
  TimeWindow window(10);
  window.zoom(0.5, 8);
  EXPECT_DOUBLE_EQ(window.begin(), 4);
  EXPECT_DOUBLE_EQ(window.end(), 9);
  EXPECT_DOUBLE_EQ(window.to_x(8, 100), 80);
  EXPECT_DOUBLE_EQ(window.to_time(80, 100), 8);
  window.zoom(1000, 8);
  EXPECT_TRUE(window.shows_all());
}

TEST(TimeWindowTest, StaysWithinItsLimits) {
  TimeWindow window(10);
  window.show(2, 4);
  window.pan(-5);
  EXPECT_EQ(window.range(), (TimeRange{{0}, {2}}));
  window.pan(50);
  EXPECT_EQ(window.range(), (TimeRange{{8}, {10}}));
  window.zoom(1e-30, 9);
  EXPECT_GT(window.length(), 0);
}

TEST(TimeWindowTest, WhatIsAllStaysAll) {
  TimeWindow window(10);
  window.set_limits(0, 4);
  EXPECT_EQ(window.range(), (TimeRange{{0}, {4}}));
  window.show(1, 2);
  window.set_limits(0, 8);
  EXPECT_EQ(window.range(), (TimeRange{{1}, {2}}));
  window.set_limits(0, 1.5);
  EXPECT_EQ(window.range(), (TimeRange{{0.5}, {1.5}}));
  EXPECT_FALSE(TimeWindow(0).length() <= 0);
}

// What is drawn earlier than 0 can be moved to, too.
TEST(TimeWindowTest, MayBeginBeforeZero) {
  TimeWindow window(10);
  window.set_limits(-5, 10);
  EXPECT_EQ(window.range(), (TimeRange{{-5}, {10}}));
  window.zoom(0.1, -5);
  EXPECT_EQ(window.range(), (TimeRange{{-5}, {-3.5}}));
  window.pan(-1);
  EXPECT_EQ(window.begin(), -5);
  EXPECT_EQ(window.moved(5).range(), (TimeRange{{0}, {1.5}}));
  EXPECT_FALSE(window.shows_all());
  window.show_all();
  EXPECT_TRUE(window.moved(2).shows_all());
}

TEST(TimeWindowTest, RevealsWithTheLeastMovement) {
  TimeWindow window(100);
  window.show(10, 20);
  window.reveal(12, 13);
  EXPECT_EQ(window.range(), (TimeRange{{10}, {20}}));
  window.reveal(25, 26);
  EXPECT_NEAR(window.end(), 26.8, 1e-9);
  EXPECT_NEAR(window.length(), 10, 1e-9);
  window.reveal(40, 60);
  EXPECT_LT(window.begin(), 40);
  EXPECT_GT(window.end(), 60);
}

std::vector<std::string> labels(double begin, double end, int most) {
  TimeWindow window(1000);
  window.set_limits(std::min(begin, 0.0), 1000);
  window.show(begin, end);
  std::vector<std::string> labels;
  for (const TimeTick& tick : time_ticks(window, most)) labels.push_back(tick.label);
  return labels;
}

TEST(TimeWindowTest, TicksAreRoundInOneUnit) {
  EXPECT_THAT(labels(0, 1, 5), ElementsAre("0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"));
  EXPECT_THAT(labels(-0.3, 0.3, 3), ElementsAre("-0.2 s", "0.0 s", "0.2 s"));
  EXPECT_THAT(labels(0.0101, 0.0139, 4), ElementsAre("11 ms", "12 ms", "13 ms"));
  EXPECT_THAT(labels(0, 1e-6, 2), ElementsAre("0.0 µs", "0.5 µs", "1.0 µs"));
}

}  // namespace
}  // namespace strata::gui
