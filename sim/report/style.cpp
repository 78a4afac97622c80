#include "sim/report/style.h"

#include <algorithm>

#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kDarkRules = "@media screen and (prefers-color-scheme: dark)",
                           kPrintRules = "@media print";

// Of the rule of a page's body.
std::string text_colour(std::string_view rule) {
  constexpr std::string_view kColour = "; color: ";
  const std::string_view rest = rule.substr(rule.find(kColour) + 2);
  return ".chart { " + std::string(rest.substr(0, rest.find(';') + 1)) + " }\n";
}

// Renderers of SVG alone resolve a fill of currentColor where it stands, not where it is inherited.
std::string filled(std::string_view rule) {
  const std::size_t colour = rule.find("color: ") + 7;
  const std::string_view value = rule.substr(colour, rule.find(';') - colour);
  return std::string(rule.substr(0, rule.rfind('}'))) + "fill: " + std::string(value) + "; }\n";
}

}  // namespace

std::string_view page_style() {
  return R"css(:root { color-scheme: light dark; }
body { margin: 0; background: #ffffff; color: #1d232b; font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
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
.grid { stroke: #e3e7ec; }
.axis { stroke: #6c7783; }
.ideal { stroke: #c62839; }
.series-0 { color: #0072b2; }
.series-1 { color: #d55e00; }
.series-2 { color: #545d36; }
.series-3 { color: #b23586; }
.series-4 { color: #8a84e4; }
.series-5 { color: #711653; }
.series-6 { color: #b28391; }
.series-7 { color: #541791; }
@media screen and (prefers-color-scheme: dark) {
  body { background: #16181d; color: #dfe3e8; }
  .note { color: #f0c36d; background: #2a2417; }
  .error { color: #ff9c8f; background: #2e1b19; }
  nav { border-color: #3c444e; }
  a { color: #7db8f0; }
  th { border-color: #6c7783; }
  td, footer { border-color: #2c323a; }
  td p, summary, footer, .unanswered { color: #a3adb8; }
  .reproduced { color: #6fce8f; }
  .differs { color: #ffa166; }
  .grid { stroke: #2a2f37; }
  .axis { stroke: #8b95a1; }
  .ideal { stroke: #ff8a8f; }
  .series-0 { color: #58a6e6; }
  .series-1 { color: #f08a3c; }
  .series-2 { color: #e5dc66; }
  .series-3 { color: #796ae5; }
  .series-4 { color: #a1d4e8; }
  .series-5 { color: #c26030; }
  .series-6 { color: #a4a4a4; }
  .series-7 { color: #957391; }
}
@media print {
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
}

std::string chart_style(bool dark) {
  std::string style;
  bool in_dark = false;
  for (std::string_view line : split(page_style(), '\n')) {
    if (line.starts_with(kPrintRules)) break;
    if (line.starts_with(kDarkRules)) in_dark = true;
    if (line == "}") in_dark = false;
    if (in_dark != dark) continue;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("body {")) style += text_colour(line);
    if (line.starts_with(".series-")) style += filled(line);
    for (const std::string_view part : {".grid", ".axis", ".ideal"}) {
      if (line.starts_with(part)) style += std::string(line) + '\n';
    }
  }
  return style;
}

}  // namespace strata
