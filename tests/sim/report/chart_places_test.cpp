// Where points of known charts stand, derived by hand. The area of the data goes from 36 (where the
// labels of y are narrow) to 696 and from 314 up to 34; points keep 10 from its left and right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/document.h"
#include "tests/sim/report/markup.h"

namespace strata {
namespace {

using testing::ElementsAre;

std::vector<std::string> circles_of(const Chart& chart) {
  const std::string svg = print_svg(chart);
  std::vector<std::string> places;
  for (const Element& circle : MarkupReader(svg).all("circle")) {
    places.push_back(circle.attributes.at("cx") + " " + circle.attributes.at("cy"));
  }
  return places;
}

// The numbers below the area.
std::vector<std::string> x_labels_of(const Chart& chart) {
  const std::string svg = print_svg(chart);
  std::vector<std::string> labels;
  for (const Element& text : MarkupReader(svg).all("text")) {
    if (text.attributes.at("y") == "330.0") {
      labels.push_back(text.attributes.at("x") + " " + text.text);
    }
  }
  return labels;
}

Chart of(ChartKind kind, bool log_x, bool log_y, std::vector<double> x, std::vector<double> y) {
  return {kind, "", "", log_x, log_y, {}, {{"", std::move(x), std::move(y), {}}}};
}

// Lines use the whole width: 0 to 8 are 640, so 80 each. 7 rounds out to 8 above, 35 each.
TEST(ReportPlaces, OfALinearChart) {
  const Chart chart = of(ChartKind::lines, false, false, {0, 4, 8}, {0, 4, 7});
  EXPECT_THAT(circles_of(chart), ElementsAre("46.0 314.0", "366.0 174.0", "686.0 69.0"));
  EXPECT_THAT(x_labels_of(chart),
              ElementsAre("46.0 0", "206.0 2", "366.0 4", "526.0 6", "686.0 8"));
}

// 1 to 100 are two decades of 320, and of 140 upwards.
TEST(ReportPlaces, OfALogarithmicChart) {
  const Chart chart = of(ChartKind::lines, true, true, {1, 10, 100}, {100, 10, 1});
  EXPECT_THAT(circles_of(chart), ElementsAre("46.0 34.0", "366.0 174.0", "686.0 314.0"));
  EXPECT_THAT(x_labels_of(chart), ElementsAre("46.0 1", "366.0 10", "686.0 100"));
}

// Doublings are 640 / 4 apart, and have the ticks. Upwards 1 is in the middle of 0.4 to 1.6.
TEST(ReportPlaces, OfPowersOfTwo) {
  const Chart chart = of(ChartKind::lines, true, false, {1, 2, 4, 16}, {1, 1, 1, 1});
  EXPECT_THAT(circles_of(chart),
              ElementsAre("46.0 174.0", "206.0 174.0", "366.0 174.0", "686.0 174.0"));
  EXPECT_THAT(x_labels_of(chart), ElementsAre("46.0 1", "206.0 2", "366.0 4", "686.0 16"));
}

// Points round out to both sides: 1.5 to 9.5 becomes 0 to 10, 64 each; upwards 5 to 10, 56 each,
// without 0, as 9.5 is not twice 5.
TEST(ReportPlaces, OfPoints) {
  const Chart chart = of(ChartKind::scatter, false, false, {1.5, 9.5}, {5, 9.5});
  EXPECT_THAT(circles_of(chart), ElementsAre("142.0 314.0", "654.0 62.0"));
}

// Values far from 0 for how they differ: 1000 to 1001 has steps of 0.2; the label "1.0002k" is
// 6 * 0.6 + 0.3 em, 46.8, and 12 more make 58.8, so that x begins at 68.8.
TEST(ReportPlaces, OfAChartWithoutZero) {
  const Chart chart = of(ChartKind::lines, false, false, {0, 1}, {1000, 1001});
  EXPECT_THAT(circles_of(chart), ElementsAre("68.8 314.0", "686.0 34.0"));
}

// A single point: 3 stands in the middle of 1.5 to 4.5, and 2 in that of 1 to 3.
TEST(ReportPlaces, OfOnePoint) {
  EXPECT_THAT(circles_of(of(ChartKind::lines, false, false, {3}, {2})), ElementsAre("366.0 174.0"));
}

// Three categories of 220 each.
TEST(ReportPlaces, OfALineOverCategories) {
  const Chart chart{
      ChartKind::lines, "", "", false, false, {"a", "b", "c"}, {{"", {0, 1, 2}, {0, 1, 2}, {}}}};
  EXPECT_THAT(circles_of(chart), ElementsAre("146.0 314.0", "366.0 174.0", "586.0 34.0"));
  EXPECT_THAT(x_labels_of(chart), ElementsAre("146.0 a", "366.0 b", "586.0 c"));
}

}  // namespace
}  // namespace strata
