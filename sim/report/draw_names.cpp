#include <fmt/format.h>

#include "sim/report/draw.h"
#include "sim/report/number.h"

namespace strata {
namespace {

constexpr double kMiddle = 4;  // of small letters, above their base line
constexpr double kSample = 20;
constexpr double kTextAfter = 26;

std::string sample_path(const LegendEntry& entry) {
  return fmt::format("M{} {}H{}", coordinate(entry.x), coordinate(entry.y - kMiddle),
                     coordinate(entry.x + kSample));
}

std::string sample_bar(const LegendEntry& entry) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\"/>\n",
                     coordinate(entry.x + 6), coordinate(entry.y - 10));
}

std::string sample_of(const LegendEntry& entry, ChartKind kind) {
  if (kind == ChartKind::bars) return sample_bar(entry);
  std::string point = marker(entry.series, entry.x + kSample / 2, entry.y - kMiddle, std::string());
  if (kind == ChartKind::scatter) return point;
  return fmt::format("<path d=\"{}\" stroke=\"currentColor\" stroke-width=\"2\"/>\n{}",
                     sample_path(entry), point);
}

void draw_entry(const Drawing& drawing, const LegendEntry& entry, std::string& svg) {
  if (entry.sample == LegendEntry::Sample::ideal) {
    svg += ideal_element(sample_path(entry));
  } else {
    svg += fmt::format("<g class=\"{}\">\n{}</g>\n", series_class(entry.series),
                       sample_of(entry, drawing.kind));
  }
  svg += text_element(entry.x + kTextAfter, entry.y, "", entry.label, entry.whole);
}

}  // namespace

void draw_names(const Drawing& drawing, const Layout& layout, std::string& svg) {
  for (std::size_t i = 0; i < layout.ends.size(); ++i) {
    const EndLabel& end = layout.ends[i];
    const std::string extra = fmt::format(R"(class="{}")", series_class(i));
    svg += text_element(layout.right, end.y + kMiddle, extra, end.label, end.whole);
  }
  for (const LegendEntry& entry : layout.legend) draw_entry(drawing, entry, svg);
}

}  // namespace strata
