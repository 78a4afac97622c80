#include "sim/report/end_labels.h"

#include <algorithm>

#include "sim/report/text_size.h"

namespace strata {
namespace {

constexpr double kApart = 14;
constexpr double kMostName = 160;

// Every series has a name, and its last mark, at the last x of all, has a y.
bool all_end_together(const Drawing& drawing) {
  double last = 0;
  for (std::size_t i = 0; i < drawing.series.size(); ++i) {
    const MarkSeries& series = drawing.series[i];
    if (series.name.empty() || series.marks.empty() || !series.marks.back().has_y()) return false;
    if (i > 0 && series.marks.back().x != last) return false;
    last = series.marks.back().x;
  }
  return true;
}

bool touch(const std::vector<EndLabel>& labels) {
  std::vector<double> heights;
  heights.reserve(labels.size());
  for (const EndLabel& label : labels) heights.push_back(label.y);
  std::sort(heights.begin(), heights.end());
  for (std::size_t i = 1; i < heights.size(); ++i) {
    if (heights[i] - heights[i - 1] < kApart) return true;
  }
  return false;
}

}  // namespace

std::vector<EndLabel> end_labels(const Drawing& drawing, const Scale& y) {
  const bool over_numbers = drawing.kind == ChartKind::lines && drawing.categories.empty();
  if (!over_numbers || !all_end_together(drawing)) return {};
  std::vector<EndLabel> labels;
  for (const MarkSeries& series : drawing.series) {
    labels.push_back({y.at(series.marks.back().y), cut_text(series.name, kMostName), series.name});
  }
  return touch(labels) ? std::vector<EndLabel>{} : labels;
}

double room_for(const std::vector<EndLabel>& ends) {
  double width = 0;
  for (const EndLabel& end : ends) width = std::max(width, text_width(end.label));
  return ends.empty() ? 0 : width + 8;
}

}  // namespace strata
