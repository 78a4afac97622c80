// Charts of any numbers and names: well-formed, within their paper, and the same each time.

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/base/counter_random.h"
#include "sim/report/document.h"
#include "tests/sim/report/markup.h"

namespace strata {
namespace {

class ChartMaker {
 public:
  explicit ChartMaker(std::uint64_t seed) : random_(seed, "charts") {}

  Chart chart() {
    Chart chart;
    chart.kind = static_cast<ChartKind>(below(3));
    chart.log_x = below(2) == 0, chart.log_y = below(2) == 0;
    chart.x_label = word(), chart.y_label = word();
    const std::size_t categories = below(2) == 0 ? 0 : below(30);
    for (std::size_t i = 0; i < categories; ++i) chart.categories.push_back(word());
    const double size = std::pow(10, 8 * random_.normal(next_++));
    for (std::size_t n = below(12); n > 0; --n) chart.series.push_back(series(categories, size));
    return chart;
  }

 private:
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_.uniform(next_++) * static_cast<double>(n));
  }
  std::string word() {
    std::string word = below(9) == 0 ? kHostile : "";
    for (std::size_t n = below(40); n > 0; --n) word += static_cast<char>(1 + below(255));
    return word;
  }
  double number(double size) {
    const double odd[] = {0, std::nan(""), std::numeric_limits<double>::infinity(), -1e308, 5e-324};
    return below(12) == 0 ? odd[below(5)] : size * random_.normal(next_++);
  }
  ChartSeries series(std::size_t categories, double size) {
    ChartSeries series{word(), {}, {}, {}};
    const bool ideal = below(3) == 0;
    for (std::size_t n = below(20); n > 0; --n) {
      const bool place = categories > 0 && below(9) > 0;
      series.x.push_back(place ? static_cast<double>(below(categories)) : number(size));
      series.y.push_back(number(size));
      if (ideal) series.ideal.push_back(number(size));
    }
    return series;
  }

  CounterRandom random_;
  std::uint64_t next_ = 0;
};

void expect_within(const Element& element, const char* key, double most) {
  if (!element.attributes.contains(key)) return;
  const std::string& text = element.attributes.at(key);
  EXPECT_TRUE(std::isfinite(element.number(key))) << element.name << " " << key << " " << text;
  EXPECT_GE(element.number(key), 0) << element.name << " " << key;
  EXPECT_LE(element.number(key), most) << element.name << " " << key;
}

TEST(ReportRandomCharts, AreWellFormedAndWithinTheirPaper) {
  std::cout << "seed 3\n";
  ChartMaker maker(3);
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    const Chart chart = maker.chart();
    const std::string svg = print_svg(chart);
    EXPECT_EQ(svg, print_svg(chart));
    const MarkupReader reader(svg);
    ASSERT_EQ(reader.wrong, "") << svg;
    const double height = std::stod(reader.elements[0].attributes.at("viewBox").substr(8));
    for (const Element& element : reader.elements) {
      for (const char* key : {"x", "x1", "x2", "cx"}) expect_within(element, key, 720);
      for (const char* key : {"y", "y1", "y2", "cy"}) expect_within(element, key, height);
    }
    EXPECT_EQ(svg.find("nan "), std::string::npos);
    EXPECT_EQ(svg.find("inf "), std::string::npos);
  }
}

}  // namespace
}  // namespace strata
