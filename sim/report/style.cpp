#include "sim/report/style.h"

#include <fmt/format.h>

namespace strata {
namespace {

constexpr ChartPalette kLight = {
    .text = 0x1d232b,
    .grid = 0xe3e7ec,
    .axis = 0x6c7783,
    .ideal = 0xc62839,
    .series = {0x0072b2, 0xd55e00, 0x545d36, 0xb23586, 0x8a84e4, 0x711653, 0xb28391, 0x541791}};
constexpr ChartPalette kDark = {
    .text = 0xdfe3e8,
    .grid = 0x2a2f37,
    .axis = 0x8b95a1,
    .ideal = 0xff8a8f,
    .series = {0x58a6e6, 0xf08a3c, 0xe5dc66, 0x796ae5, 0xa1d4e8, 0xc26030, 0xa4a4a4, 0x957391}};

std::string lines_of(const ChartPalette& palette, std::string_view indent) {
  return fmt::format(
      "{0}.grid {{ stroke: {1}; }}\n{0}.axis {{ stroke: {2}; }}\n{0}.ideal {{ stroke: {3}; }}\n",
      indent, css_colour(palette.grid), css_colour(palette.axis), css_colour(palette.ideal));
}

std::string series_of(const ChartPalette& palette, std::string_view indent) {
  std::string rules;
  for (std::size_t i = 0; i < palette.series.size(); ++i) {
    rules +=
        fmt::format("{}.series-{} {{ color: {}; }}\n", indent, i, css_colour(palette.series[i]));
  }
  return rules;
}

constexpr std::string_view kPage =
    R"css(main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1, h2 { line-height: 1.25; }
h1 { font-size: 1.9rem; margin: 0 0 1rem; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 0.75rem; }
p { max-width: 44rem; overflow-wrap: anywhere; }
.note, .error { padding: 0.5rem 1rem; border-left: 4px solid; }
.note { color: #7a4b00; background: #fdf5e3; }
.error { color: #a3200f; background: #fdeeec; }
nav { margin: 1.5rem 0; padding: 0.25rem 1.25rem; border-left: 3px solid #c9d0d8; }
nav ol { margin: 0.5rem 0; padding-left: 1.25rem; }
a { color: #0b5fa5; }
figure { margin: 1rem 0; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.8rem; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #8b95a1; font-weight: 600; }
td { border-bottom: 1px solid #dde2e8; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td p { margin: 0.25rem 0 0; font-size: 0.85rem; color: #56606c; }
details { margin: 0.5rem 0 1rem; }
summary { cursor: pointer; font-size: 0.9rem; color: #56606c; }
.badge { display: inline-block; padding: 0.05rem 0.6rem; border: 1.5px solid; border-radius: 1rem;
  font-size: 0.85rem; font-weight: 600; white-space: nowrap; }
.reproduced { color: #1b6e3a; }
.differs { color: #a33a00; border-style: dashed; }
.unanswered { color: #56606c; border-style: dotted; }
footer { margin-top: 3rem; border-top: 1px solid #dde2e8; font-size: 0.85rem; color: #56606c;
  overflow-wrap: anywhere; }
.chart { display: block; width: 100%; height: auto; }
)css";

constexpr std::string_view kInTheDark = R"css(  .note { color: #f0c36d; background: #2a2417; }
  .error { color: #ff9c8f; background: #2e1b19; }
  nav { border-color: #3c444e; }
  a { color: #7db8f0; }
  th { border-color: #6c7783; }
  td, footer { border-color: #2c323a; }
  td p, summary, footer, .unanswered { color: #a3adb8; }
  .reproduced { color: #6fce8f; }
  .differs { color: #ffa166; }
)css";

constexpr std::string_view kOnPaper = R"css(@media print {
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  nav, details:not([open]) { display: none; }
  h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  thead { display: table-header-group; }
  .wide { overflow: visible; }
  a { color: inherit; text-decoration: none; }
}
)css";

std::string page_rules() {
  std::string rules = fmt::format(
      ":root {{ color-scheme: light dark; }}\n"
      "body {{ margin: 0; background: #ffffff; color: {}; font: 16px/1.55 system-ui, sans-serif; "
      "}}\n",
      css_colour(kLight.text));
  rules += kPage;
  rules += lines_of(kLight, "") + series_of(kLight, "");
  rules += fmt::format(
      "@media screen and (prefers-color-scheme: dark) {{\n"
      "  body {{ background: #16181d; color: {}; }}\n",
      css_colour(kDark.text));
  rules += kInTheDark;
  rules += lines_of(kDark, "  ") + series_of(kDark, "  ") + "}\n";
  rules += kOnPaper;
  return rules;
}

}  // namespace

const ChartPalette& chart_palette(bool dark) {
  return dark ? kDark : kLight;
}

std::string css_colour(std::uint32_t colour) {
  return fmt::format("#{:06x}", colour);
}

std::string_view page_style() {
  static const std::string rules = page_rules();
  return rules;
}

// Renderers of SVG alone resolve a fill of currentColor where it stands, not where it is inherited.
std::string chart_style(bool dark) {
  const ChartPalette& palette = chart_palette(dark);
  std::string style = fmt::format(".chart {{ color: {}; }}\n", css_colour(palette.text));
  style += lines_of(palette, "");
  for (std::size_t i = 0; i < palette.series.size(); ++i) {
    style +=
        fmt::format(".series-{0} {{ color: {1}; fill: {1}; }}\n", i, css_colour(palette.series[i]));
  }
  return style;
}

}  // namespace strata
