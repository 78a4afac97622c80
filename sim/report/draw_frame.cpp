#include <fmt/format.h>

#include "sim/report/draw.h"
#include "sim/report/number.h"
#include "sim/report/text_size.h"

namespace strata {
namespace {

constexpr double kDrop = 4;  // from the middle of small letters to their base line
constexpr double kTickGap = 6;

std::string line(const char* name, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", name,
                     coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
}

void draw_y_ticks(const Layout& layout, std::string& svg) {
  for (const TickMark& tick : layout.y_ticks) {
    svg += line("grid", layout.left, tick.at, layout.right, tick.at);
    svg += text_element(layout.left - kTickGap, tick.at + kDrop, R"(text-anchor="end")", tick.label,
                        tick.whole);
  }
}

std::string slant(double x, double y) {
  return fmt::format(R"x(text-anchor="end" transform="rotate(-35 {} {})")x", coordinate(x),
                     coordinate(y));
}

void draw_x_ticks(const Drawing& drawing, const Layout& layout, std::string& svg) {
  for (const TickMark& tick : layout.x_ticks) {
    if (drawing.categories.empty()) {
      svg += line("grid", tick.at, kFrameTop, tick.at, kFrameBottom);
    }
    const double y = kFrameBottom + kFontSize + (layout.slanted ? 2 : 4);
    const std::string extra = layout.slanted ? slant(tick.at, y) : R"(text-anchor="middle")";
    svg += text_element(tick.at, y, extra, tick.label, tick.whole);
  }
}

// Bars stand on 0 where the chart has one.
double base_line(const Layout& layout) {
  const bool crosses = !layout.y.logarithmic && layout.y.range.low <= 0 && layout.y.range.high >= 0;
  return crosses ? layout.y.at(0) : kFrameBottom;
}

void draw_labels(const Drawing& drawing, const Layout& layout, std::string& svg) {
  if (!drawing.y_label.empty()) {
    const std::string label = cut_text(drawing.y_label, kChartWidth - 4);
    svg += text_element(2, kFontSize + 2, "", label, drawing.y_label);
  }
  if (drawing.x_label.empty()) return;
  const std::string label = cut_text(drawing.x_label, layout.right - layout.left);
  svg += text_element((layout.left + layout.right) / 2, layout.x_label_y, R"(text-anchor="middle")",
                      label, drawing.x_label);
}

}  // namespace

void draw_frame(const Drawing& drawing, const Layout& layout, std::string& svg) {
  draw_y_ticks(layout, svg);
  draw_x_ticks(drawing, layout, svg);
  const double base = base_line(layout);
  svg += line("axis", layout.left, base, layout.right, base);
  draw_labels(drawing, layout, svg);
}

}  // namespace strata
