#include "sim/report/style.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace strata {
namespace {

using Colour = std::array<double, 3>;  // linear red, green and blue

// The value of a property, the first after `from`.
std::string value_of(std::string_view from, const std::string& selector, const std::string& key) {
  const std::size_t rule = from.find("\n" + selector + " {") != std::string_view::npos
                               ? from.find("\n" + selector + " {")
                               : from.find("  " + selector + " {");
  const std::size_t at = from.find(" " + key + ": ", rule) + key.size() + 3;
  return std::string(from.substr(at, from.find(';', at) - at));
}

// sRGB (IEC 61966-2-1).
Colour parse_colour(const std::string& hex) {
  Colour colour{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    colour[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return colour;
}

double luminance(const Colour& c) {
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

// WCAG 2.1, "contrast ratio".
double contrast(const std::string& a, const std::string& b) {
  const double first = luminance(parse_colour(a)), second = luminance(parse_colour(b));
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

// Light, and what changes in the dark.
std::array<std::string_view, 2> modes() {
  const std::size_t dark = page_style().find("@media screen");
  return {page_style().substr(0, dark), page_style().substr(dark)};
}

std::string series(int i) {
  return ".series-" + std::to_string(i);
}

TEST(ReportStyle, ColoursStandOutFromThePage) {
  for (std::string_view mode : modes()) {
    const std::string page = value_of(mode, "body", "background");
    for (int i = 0; i < 8; ++i) {
      EXPECT_GE(contrast(value_of(mode, series(i), "color"), page), 3) << i << " on " << page;
    }
    EXPECT_GE(contrast(value_of(mode, ".ideal", "stroke"), page), 3);
    EXPECT_GE(contrast(value_of(mode, "body", "color"), page), 7);
    for (const std::string box : {".note", ".error"}) {
      EXPECT_GE(contrast(value_of(mode, box, "color"), value_of(mode, box, "background")), 4.5);
    }
    for (const char* verdict : {".reproduced", ".differs"}) {
      EXPECT_GE(contrast(value_of(mode, verdict, "color"), page), 4.5) << verdict;
    }
  }
}

// How eyes without one kind of cones see: Machado, Oliveira and Fernandes (2009), severity 1.
using Matrix = std::array<Colour, 3>;
constexpr Matrix kEyes[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868},
      {0.114503, 0.786281, 0.099216},
      {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968},
      {0.280085, 0.672501, 0.047413},
      {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779},
      {-0.078411, 0.930809, 0.147602},
      {0.004733, 0.691367, 0.303900}}},
};

Colour times(const Matrix& m, const Colour& c, double least) {
  Colour out{};
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = std::max(least, m[i][0] * c[0] + m[i][1] * c[1] + m[i][2] * c[2]);
  }
  return out;
}

// Oklab (Ottosson, 2020), where distances are about as large as they look.
Colour oklab(const Colour& linear) {
  Colour cones = times({{{0.4122214708, 0.5363325363, 0.0514459929},
                         {0.2119034982, 0.6806995451, 0.1073969566},
                         {0.0883024619, 0.2817188376, 0.6299787005}}},
                       linear, 0);
  for (double& cone : cones) cone = std::cbrt(cone);
  return times({{{0.2104542553, 0.7936177850, -0.0040720468},
                 {1.9779984951, -2.4285922050, 0.4505937099},
                 {0.0259040371, 0.7827717662, -0.8086757660}}},
               cones, -1);
}

double distance(const Colour& a, const Colour& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

TEST(ReportStyle, ColoursAreToldApartByAllEyes) {
  for (std::string_view mode : modes()) {
    for (const Matrix& eyes : kEyes) {
      const auto seen = [&](int i) {
        return oklab(times(eyes, parse_colour(value_of(mode, series(i), "color")), 0));
      };
      for (int i = 0; i < 8; ++i) {
        for (int k = 0; k < i; ++k) EXPECT_GT(distance(seen(i), seen(k)), 0.09) << i << ", " << k;
      }
    }
  }
}

TEST(ReportStyle, IsSafeWithinItsElement) {
  EXPECT_EQ(page_style().find('<'), std::string_view::npos);
  EXPECT_EQ(page_style().find("url("), std::string_view::npos);
  EXPECT_EQ(page_style().find("@import"), std::string_view::npos);
}

// The table, the page and a chart alone have the same colours.
TEST(PageStyle, HasThePalette) {
  for (const bool dark : {false, true}) {
    const ChartPalette& palette = chart_palette(dark);
    const std::string_view page = modes()[dark ? 1 : 0];
    EXPECT_EQ(value_of(page, "body", "color"), css_colour(palette.text));
    EXPECT_EQ(value_of(page, ".grid", "stroke"), css_colour(palette.grid));
    EXPECT_EQ(value_of(page, ".axis", "stroke"), css_colour(palette.axis));
    for (int i = 0; i < 8; ++i) {
      const std::string colour = css_colour(palette.series.at(static_cast<std::size_t>(i)));
      EXPECT_EQ(value_of(page, series(i), "color"), colour);
      EXPECT_EQ(value_of(chart_style(dark), series(i), "fill"), colour);
    }
  }
  EXPECT_EQ(css_colour(0x0072b2), "#0072b2");
}

TEST(PageStyle, AChartAloneHasTheColoursOfThePage) {
  const std::string light = chart_style(false), dark = chart_style(true);
  EXPECT_TRUE(light.starts_with(".chart { color: #1d232b; }\n.grid { stroke: #e3e7ec; }\n"))
      << light;
  EXPECT_TRUE(dark.starts_with(".chart { color: #dfe3e8; }\n.grid { stroke: #2a2f37; }\n")) << dark;
  EXPECT_NE(light.find(".series-7 { color: #541791; fill: #541791; }\n"), std::string::npos);
  for (const std::string& style : {light, dark}) {
    EXPECT_EQ(std::count(style.begin(), style.end(), '\n'), 1 + 3 + 8) << style;
  }
}

}  // namespace
}  // namespace strata
