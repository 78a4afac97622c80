#include <fmt/format.h>

#include "sim/report/document.h"
#include "sim/report/draw.h"
#include "sim/report/escape.h"
#include "sim/report/number.h"
#include "sim/report/style.h"

namespace strata {
namespace {

constexpr double kEmptyHeight = 120;

std::string_view name_of(ChartKind kind) {
  if (kind == ChartKind::lines) return "Lines";
  return kind == ChartKind::bars ? "Bars" : "Points";
}

// What somebody is told who does not see the chart: "Bars: step time (s) over devices; data, owt".
std::string summary(const Drawing& drawing) {
  std::string words = fmt::format("{}: {}", name_of(drawing.kind),
                                  drawing.y_label.empty() ? "values" : drawing.y_label);
  if (!drawing.x_label.empty()) words += " over " + drawing.x_label;
  const char* between = "; ";
  for (const MarkSeries& series : drawing.series) {
    if (series.name.empty()) continue;
    words += between + series.name;
    between = ", ";
  }
  return words;
}

std::string opening(const Drawing& drawing, double height, const char* addition) {
  return fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "role=\"img\" aria-label=\"{}{}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
      "fill=\"currentColor\">\n",
      kChartWidth, height, escape_markup(summary(drawing)), addition);
}

std::string empty_chart(const Drawing& drawing) {
  return opening(drawing, kEmptyHeight, "; no data") +
         text_element(kChartWidth / 2, kEmptyHeight / 2, R"(text-anchor="middle")", "no data",
                      "no data") +
         "</svg>\n";
}

void draw_series(const Drawing& drawing, const Layout& layout, std::string& svg) {
  switch (drawing.kind) {
    case ChartKind::lines:
      return draw_lines(drawing, layout, svg);
    case ChartKind::bars:
      return draw_bars(drawing, layout, svg);
    case ChartKind::scatter:
      return draw_scatter(drawing, layout, svg);
  }
}

}  // namespace

std::string print_svg(const Chart& chart) {
  const Drawing drawing = drawing_of(chart);
  if (drawing.count() == 0) return empty_chart(drawing);
  const Layout layout = lay_out(drawing);
  std::string svg = opening(drawing, layout.height, "");
  draw_frame(drawing, layout, svg);
  draw_series(drawing, layout, svg);
  draw_names(drawing, layout, svg);
  return svg + "</svg>\n";
}

// The style sheet comes too late for the element that it stands in.
std::string print_svg_alone(const Chart& chart, bool dark) {
  constexpr std::string_view kFill = "currentColor";
  std::string svg = print_svg(chart);
  svg.replace(svg.find(kFill), kFill.size(), css_colour(chart_palette(dark).text));
  svg.insert(svg.find('\n') + 1, "<style>\n" + chart_style(dark) + "</style>\n");
  return svg;
}

}  // namespace strata
