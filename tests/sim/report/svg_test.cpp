#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/report/document.h"
#include "tests/sim/report/markup.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

// The ticks of 0 to 2 are half a unit apart, 70 on the paper. A bar is 64 wide with a gap of 1, and
// its middle is that of the area from 36 to 696.
TEST(ReportSvg, OfOneBarReadsAsFollows) {
  const Chart chart{ChartKind::bars, "", "s", false, false, {"a"}, {{"", {0}, {2}, {}}}};
  EXPECT_EQ(print_svg(chart), R"(<svg class="chart" xmlns="http://www.w3.org/2000/svg" )"
                              R"(viewBox="0 0 720 344" role="img" aria-label="Bars: s" )"
                              R"(font-family="system-ui, sans-serif" font-size="12" )"
                              R"(fill="currentColor">
<line class="grid" x1="36.0" y1="314.0" x2="696.0" y2="314.0"/>
<text x="30.0" y="318.0" text-anchor="end">0</text>
<line class="grid" x1="36.0" y1="244.0" x2="696.0" y2="244.0"/>
<text x="30.0" y="248.0" text-anchor="end">0.5</text>
<line class="grid" x1="36.0" y1="174.0" x2="696.0" y2="174.0"/>
<text x="30.0" y="178.0" text-anchor="end">1</text>
<line class="grid" x1="36.0" y1="104.0" x2="696.0" y2="104.0"/>
<text x="30.0" y="108.0" text-anchor="end">1.5</text>
<line class="grid" x1="36.0" y1="34.0" x2="696.0" y2="34.0"/>
<text x="30.0" y="38.0" text-anchor="end">2</text>
<text x="366.0" y="330.0" text-anchor="middle">a</text>
<line class="axis" x1="36.0" y1="314.0" x2="696.0" y2="314.0"/>
<text x="2.0" y="14.0">s</text>
<g class="series-0">
<rect x="334.0" y="34.0" width="63.0" height="280.0"><title>a; s: 2</title></rect>
</g>
<text x="365.5" y="30.0" font-size="11" text-anchor="middle">2</text>
</svg>
)");
}

TEST(ReportSvg, AloneHasTheColoursOfThePage) {
  const Chart chart{ChartKind::bars, "", "s", false, false, {"a"}, {{"", {0}, {2}, {}}}};
  const std::string dark = print_svg_alone(chart, true);
  EXPECT_THAT(dark, HasSubstr("fill=\"#dfe3e8\">\n<style>\n.chart { color: #dfe3e8; }\n"));
  EXPECT_THAT(dark, HasSubstr("</style>\n<line class=\"grid\" x1=\"36.0\" y1=\"314.0\""));
  EXPECT_THAT(print_svg_alone(chart, false), HasSubstr("fill=\"#1d232b\">\n<style>\n"));
}

TEST(ReportSvg, WithoutPointsSaysSo) {
  for (const ChartKind kind : {ChartKind::lines, ChartKind::bars, ChartKind::scatter}) {
    for (const std::vector<ChartSeries>& none : std::vector<std::vector<ChartSeries>>{
             {}, {{"a", {}, {}, {}}}, {{"a", {1, 2}, {kMissing, kEndless}, {}}}}) {
      const std::string svg = print_svg({kind, "x", "y", false, false, {}, none});
      EXPECT_EQ(MarkupReader(svg).wrong, "");
      EXPECT_THAT(svg, HasSubstr(">no data</text>"));
    }
  }
}

std::vector<std::string> texts_of(const std::vector<Element>& elements) {
  std::vector<std::string> texts;
  for (const Element& element : elements) texts.push_back(element.text);
  return texts;
}

Chart lines(std::vector<ChartSeries> all) {
  return {ChartKind::lines, "GB/s", "s", false, false, {}, std::move(all)};
}

std::string path_of_line(const std::string& svg) {
  for (const Element& path : MarkupReader(svg).all("path")) {
    if (path.attributes.contains("stroke") && !path.attributes.contains("class")) {
      return path.attributes.at("d");
    }
  }
  return {};
}

// x from 46 to 686, y from 314 up to 34; a missing value in the middle leaves two stretches.
TEST(ReportSvg, LinesHaveGapsAndGoInTheOrderOfX) {
  const std::string svg =
      print_svg(lines({{"a", {4, 0, 1, 2, 3, kEndless}, {4, 0, 1, kMissing, 3, 5}, {}}}));
  EXPECT_EQ(path_of_line(svg), "M46.0 314.0L206.0 244.0M526.0 104.0L686.0 34.0");
  EXPECT_THAT(
      texts_of(MarkupReader(svg).all("title")),
      ElementsAre("a; GB/s: 0; s: 0", "a; GB/s: 1; s: 1", "a; GB/s: 3; s: 3", "a; GB/s: 4; s: 4"));
}

TEST(ReportSvg, TitlesHaveAllDigits) {
  const std::string svg = print_svg(lines({{"", {1, 2}, {0.1 + 0.2, 1e-7}, {0.3, kMissing}}}));
  EXPECT_THAT(texts_of(MarkupReader(svg).all("title")),
              ElementsAre("GB/s: 1; s: 0.30000000000000004; ideal: 0.3", "GB/s: 2; s: 1e-07"));
}

TEST(ReportSvg, LinesAreNamedAtTheirEndsWhereThereIsRoom) {
  // Of 280 for 10, 1 is 28.
  const std::string apart =
      print_svg(lines({{"up", {0, 4}, {0, 10}, {}}, {"on", {0, 4}, {0, 9}, {}}}));
  EXPECT_THAT(apart, HasSubstr(R"(y="38.0" class="series-0">up</text>)"));
  EXPECT_THAT(apart, HasSubstr(R"(y="66.0" class="series-1">on</text>)"));
  EXPECT_THAT(apart, HasSubstr(R"(viewBox="0 0 720 362")"));

  const std::string close =
      print_svg(lines({{"up", {0, 4}, {0, 10}, {}}, {"on", {0, 4}, {0, 9.9}, {}}}));
  EXPECT_THAT(close, HasSubstr(R"(<text x="62.0" y="378.0">up</text>)"));
  EXPECT_THAT(close, HasSubstr(R"(viewBox="0 0 720 388")"));

  const std::string shorter =
      print_svg(lines({{"up", {0, 4}, {0, 10}, {}}, {"on", {0, 3}, {0, 5}, {}}}));
  EXPECT_THAT(shorter, HasSubstr(R"(<text x="62.0" y="378.0">up</text>)"));
}

TEST(ReportSvg, IdealsAreDashedAndExplained) {
  const std::string svg = print_svg(lines({{"a", {0, 4}, {0, 2}, {0, 4}}}));
  EXPECT_THAT(svg, HasSubstr(R"(<path class="ideal" d="M46.0 314.0L686.0 34.0" fill="none")"));
  EXPECT_THAT(svg, HasSubstr(">ideal</text>"));
  EXPECT_THAT(print_svg(lines({{"a", {0, 4}, {0, 2}, {}}})), Not(HasSubstr("ideal")));
}

TEST(ReportSvg, MarkersGiveWayToManyPoints) {
  ChartSeries many{"a", {}, {}, {}};
  for (int i = 0; i < 402; ++i) {
    many.x.push_back(i);
    many.y.push_back(i == 2 ? kMissing : 1);
  }
  const auto circles = [&] { return MarkupReader(print_svg(lines({many}))).all("circle").size(); };
  EXPECT_EQ(circles(), 0U);
  many.y[0] = kMissing;  // leaves place 1 on its own, and 400 points, which have markers
  EXPECT_EQ(circles(), 400U);
  many.x.push_back(402), many.y.push_back(1);
  EXPECT_EQ(circles(), 1U);
}

TEST(ReportSvg, TheNinthSeriesHasTheFirstColourAndAnotherShape) {
  std::vector<ChartSeries> nine;
  for (int i = 0; i < 9; ++i) nine.push_back({"s" + std::to_string(i), {0}, {1.0 * i}, {}});
  const std::string svg = print_svg({ChartKind::scatter, "", "", false, false, {}, nine});
  const MarkupReader reader(svg);
  EXPECT_EQ(reader.wrong, "");
  EXPECT_EQ(reader.all("circle").size(), 4U);  // series 0 and 5, and their samples
  std::size_t first_colour = 0;
  for (const Element& group : reader.all("g")) {
    first_colour += group.attributes.at("class") == "series-0" ? 1 : 0;
  }
  EXPECT_EQ(first_colour, 4U);  // series 0 and 8
}

TEST(ReportSvg, BarsStandSideBySide) {
  const Chart chart{ChartKind::bars,
                    "",
                    "",
                    false,
                    false,
                    {"a", "b"},
                    {{"u", {0, 1}, {1, 2}, {}}, {"v", {1, 0}, {-2, -1}, {}}}};
  const std::string svg = print_svg(chart);
  // From -3 to 2, as -2 alone would leave no room for its value; 56 each, and 0 at 146. Slots of
  // 330 around 201 and 531, bars 64 at both sides of that.
  std::vector<std::string> bars;
  for (const Element& bar : MarkupReader(svg).all("rect")) {
    if (bar.attributes.at("width") != "63.0") continue;
    bars.push_back(bar.attributes.at("x") + " " + bar.attributes.at("y") + " " +
                   bar.attributes.at("height"));
  }
  EXPECT_THAT(bars, ElementsAre("137.0 90.0 56.0", "467.0 34.0 112.0", "201.0 146.0 56.0",
                                "531.0 146.0 112.0"));
  EXPECT_THAT(svg, HasSubstr(R"(<line class="axis" x1="36.0" y1="146.0" x2="696.0" y2="146.0"/>)"));
  EXPECT_THAT(svg, HasSubstr(R"(text-anchor="middle">-2</text>)"));
}

TEST(ReportSvg, BarsOverNumbersHaveThemAsCategories) {
  const Chart chart{ChartKind::bars, "", "", false, false, {}, {{"", {8, 2, 4000}, {1, 2, 3}, {}}}};
  const std::string svg = print_svg(chart);
  EXPECT_THAT(texts_of(MarkupReader(svg).all("title")), ElementsAre("2; 2", "8; 1", "4k; 3"));
}

TEST(ReportSvg, TheLeastBarOfALogarithmicChartCanBeSeen) {
  const Chart chart{
      ChartKind::bars, "", "", false, true, {"a", "b", "c"}, {{"", {0, 1, 2}, {1, 1000, 0}, {}}}};
  const std::string svg = print_svg(chart);
  const std::vector<Element> bars = MarkupReader(svg).all("rect");
  ASSERT_EQ(bars.size(), 2U);  // 0 has no place
  EXPECT_GT(bars[0].number("height"), 10);
}

TEST(ReportSvg, CategoriesThatAreNotThereAreLeftOut) {
  const Chart chart{ChartKind::bars,
                    "",
                    "",
                    false,
                    false,
                    {"a", "b"},
                    {{"", {0, 2, -1, 0.5, kMissing}, {1, 2, 3, 4, 5}, {}}}};
  EXPECT_EQ(MarkupReader(print_svg(chart)).all("rect").size(), 1U);
}

TEST(ReportSvg, LongNamesAreSlantedAndCut) {
  const std::string name(60, 'm');
  const Chart chart{ChartKind::bars,
                    "",
                    "",
                    false,
                    false,
                    {name, name, "c", "d", "e", "f"},
                    {{"", {0, 1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}, {}}}};
  const std::string svg = print_svg(chart);
  EXPECT_THAT(svg, HasSubstr("rotate(-35 "));
  EXPECT_THAT(svg, HasSubstr("mm\xE2\x80\xA6mmmmmmm<title>" + name + "</title>"));
}

TEST(ReportSvg, HoldsHostileTextAsText) {
  const std::string& bad = kHostile;
  for (const ChartKind kind : {ChartKind::lines, ChartKind::bars, ChartKind::scatter}) {
    for (const std::vector<std::string>& categories :
         {std::vector<std::string>{}, std::vector<std::string>{bad, bad}}) {
      const Chart chart{kind,
                        bad,
                        bad,
                        false,
                        false,
                        categories,
                        {{bad, {0, 1}, {1, 2}, {2, 1}}, {bad, {1}, {2}, {}}}};
      const std::string svg = print_svg(chart);
      EXPECT_EQ(MarkupReader(svg).wrong, "");
      EXPECT_THAT(svg, Not(HasSubstr("<script")));
      EXPECT_THAT(svg, HasSubstr("aria-label=\"" +
                                 std::string(kind == ChartKind::lines  ? "Lines"
                                             : kind == ChartKind::bars ? "Bars"
                                                                       : "Points") +
                                 ": " + kHostileMarkup + " over " + kHostileMarkup));
      EXPECT_THAT(svg, HasSubstr("<title>" + kHostileMarkup + "; " + kHostileMarkup + ": "));
    }
  }
}

TEST(ReportSvg, RefusesListsOfDifferentLengths) {
  EXPECT_THROW(print_svg(lines({{"a", {1, 2}, {1}, {}}})), InternalError);
  EXPECT_THROW(print_svg(lines({{"a", {1, 2}, {1, 2}, {1}}})), InternalError);
}

}  // namespace
}  // namespace strata
