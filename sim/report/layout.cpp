#include "sim/report/layout.h"

#include <algorithm>

#include "sim/report/labels.h"
#include "sim/report/number.h"
#include "sim/report/text_size.h"

namespace strata {
namespace {

constexpr double kInset = 10;  // keeps markers off the sides
constexpr double kRightMargin = 24;
constexpr double kLeastLeft = 36;
constexpr double kSlantedLeft = 84;  // the first names go far to the left
constexpr double kSampleWidth = 28;
constexpr double kLegendRow = 20;
constexpr double kLegendGap = 18;
constexpr double kMostLegend = 260;
constexpr double kBelowBars = 0.06;

// Zero belongs to bars, and to values that are not far from it compared with how they differ.
bool wants_zero(const Drawing& drawing, Range range) {
  if (drawing.log_y) return false;
  const bool near = range.low >= 0 ? range.low <= range.high / 2 : range.high >= range.low / 2;
  return drawing.kind == ChartKind::bars || near;
}

// The least bar of a logarithmic chart has a height too, and the value below the longest one that
// goes down keeps off the categories.
double below_bars(Range range, bool logarithmic) {
  if (logarithmic) return range.low / 2;
  return range.low < 0 ? range.low - (range.high - range.low) * kBelowBars : range.low;
}

Scale y_scale(const Drawing& drawing) {
  Range range = range_of(drawing.ys(), drawing.log_y);
  if (wants_zero(drawing, range)) range = with_zero(range);
  if (drawing.kind == ChartKind::bars) range.low = below_bars(range, drawing.log_y);
  range = rounded_out(widened(range, drawing.log_y), drawing.log_y);
  return {range, drawing.log_y, kFrameBottom, kFrameTop};
}

Scale x_scale(const Drawing& drawing, double left, double right) {
  if (!drawing.categories.empty()) {
    const auto count = static_cast<double>(drawing.categories.size());
    return {{-0.5, count - 0.5}, false, left, right};
  }
  Range range = widened(range_of(drawing.xs(), drawing.log_x), drawing.log_x);
  if (drawing.kind == ChartKind::scatter) range = rounded_out(range, drawing.log_x);
  return {range, drawing.log_x, left + kInset, right - kInset};
}

double widest(const std::vector<TickMark>& ticks) {
  double width = 0;
  for (const TickMark& tick : ticks) width = std::max(width, text_width(tick.label));
  return width;
}

std::vector<LegendEntry> entries_of(const Drawing& drawing, bool named_at_ends) {
  std::vector<LegendEntry> entries;
  const auto add = [&](LegendEntry::Sample sample, std::size_t i, const std::string& name) {
    entries.push_back({sample, i, 0, 0, cut_text(name, kMostLegend), name});
  };
  for (std::size_t i = 0; i < drawing.series.size() && !named_at_ends; ++i) {
    const std::string& name = drawing.series[i].name;
    if (!name.empty()) add(LegendEntry::Sample::series, i, name);
  }
  if (drawing.has_ideal()) add(LegendEntry::Sample::ideal, 0, "ideal");
  return entries;
}

// Row by row, from `y` on; returns the last base line.
double place_legend(std::vector<LegendEntry>& entries, double left, double y) {
  double x = left;
  for (LegendEntry& entry : entries) {
    const double width = kSampleWidth + text_width(entry.label);
    if (x > left && x + width > kChartWidth) {
      x = left;
      y += kLegendRow;
    }
    entry.x = x;
    entry.y = y;
    x += width + kLegendGap;
  }
  return y;
}

void place_below(const Drawing& drawing, Layout& layout) {
  double end = kFrameBottom + labels_depth(layout.x_ticks, layout.slanted);
  if (!drawing.x_label.empty()) end += 18;
  layout.x_label_y = end;
  layout.legend = entries_of(drawing, !layout.ends.empty());
  if (!layout.legend.empty()) end = place_legend(layout.legend, layout.left, end + 26);
  layout.height = end + 10;
}

}  // namespace

double slot_width(const Drawing& drawing, const Layout& layout) {
  return (layout.right - layout.left) / static_cast<double>(drawing.categories.size());
}

Layout lay_out(const Drawing& drawing) {
  Layout layout;
  layout.y = y_scale(drawing);
  layout.y_ticks = y_tick_labels(layout.y);
  layout.ends = end_labels(drawing, layout.y);
  layout.left = std::max(kLeastLeft, widest(layout.y_ticks) + 12);
  layout.right = kChartWidth - std::max(kRightMargin, room_for(layout.ends));
  layout.slanted = wants_slant(drawing.categories, slot_width(drawing, layout));
  if (layout.slanted) layout.left = std::max(kSlantedLeft, layout.left);
  layout.x = x_scale(drawing, layout.left, layout.right);
  layout.x_ticks = x_tick_labels(drawing, layout.x, layout.slanted);
  place_below(drawing, layout);
  return layout;
}

}  // namespace strata
