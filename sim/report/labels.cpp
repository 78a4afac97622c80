#include "sim/report/labels.h"

#include <algorithm>
#include <cmath>

#include "sim/report/number.h"
#include "sim/report/text_size.h"

namespace strata {
namespace {

constexpr double kBetween = 8;  // side by side
constexpr double kLine = 14;    // one above the other
constexpr double kMostSlanted = 150;
constexpr int kTickDigits = 12;  // ticks are round: all that they have

TickMark numbered(const Scale& scale, double value) {
  const std::string label = short_number(value, kTickDigits);
  return {scale.at(value), label, label};
}

// Leaves out each tick that needs more room than there is behind the one before it.
template <class Room>
std::vector<TickMark> thinned(const std::vector<TickMark>& all, Room room) {
  std::vector<TickMark> kept;
  for (const TickMark& tick : all) {
    if (kept.empty() || std::abs(tick.at - kept.back().at) >= room(kept.back(), tick)) {
      kept.push_back(tick);
    }
  }
  return kept;
}

double side_by_side(const TickMark& a, const TickMark& b) {
  return (text_width(a.label) + text_width(b.label)) / 2 + kBetween;
}
double one_above_the_other(const TickMark&, const TickMark&) {
  return kLine;
}

// A slanted label ends at its tick and must not begin left of the drawing.
TickMark category_tick(const std::string& name, double at, bool slanted) {
  const double room = std::min(kMostSlanted, (at - 4) / kSlantCosine);
  return {at, slanted ? cut_middle(name, room) : name, name};
}

std::vector<TickMark> category_ticks(const Drawing& drawing, const Scale& scale, bool slanted) {
  std::vector<TickMark> ticks;
  for (std::size_t i = 0; i < drawing.categories.size(); ++i) {
    const double at = scale.at(static_cast<double>(i));
    ticks.push_back(category_tick(drawing.categories[i], at, slanted));
  }
  return ticks;
}

std::vector<TickMark> number_ticks(const Drawing& drawing, const Scale& scale) {
  std::vector<double> values;
  const bool own = scale.logarithmic && drawing.kind == ChartKind::lines;
  if (own) values = powers_of_two(drawing.xs());
  if (values.empty()) values = ticks(scale.range, scale.logarithmic);
  std::vector<TickMark> found;
  found.reserve(values.size());
  for (double value : values) found.push_back(numbered(scale, value));
  return found;
}

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

bool wants_slant(const std::vector<std::string>& categories, double slot) {
  return std::any_of(categories.begin(), categories.end(), [&](const std::string& name) {
    return text_width(name) > slot - kBetween / 2;
  });
}

std::vector<TickMark> x_tick_labels(const Drawing& drawing, const Scale& scale, bool slanted) {
  if (drawing.categories.empty()) return thinned(number_ticks(drawing, scale), side_by_side);
  return thinned(category_ticks(drawing, scale, slanted), one_above_the_other);
}

std::vector<TickMark> y_tick_labels(const Scale& scale) {
  std::vector<TickMark> found;
  for (double value : ticks(scale.range, scale.logarithmic)) {
    found.push_back(numbered(scale, value));
  }
  return thinned(found, one_above_the_other);
}

double labels_depth(const std::vector<TickMark>& ticks, bool slanted) {
  if (!slanted) return kFontSize + 8;
  double deepest = 0;
  for (const TickMark& tick : ticks) deepest = std::max(deepest, text_width(tick.label));
  return deepest * kSlantSine + kFontSize + 8;
}

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
