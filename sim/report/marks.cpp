#include "sim/report/marks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/report/document.h"
#include "sim/report/number.h"
#include "sim/report/scale.h"

namespace strata {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool is_place(double x, std::size_t categories) {
  return x >= 0 && x < static_cast<double>(categories) && x == std::floor(x);
}

MarkSeries marks_of(const ChartSeries& series, const Drawing& drawing) {
  const auto on_y = [&](double y) { return drawable(y, drawing.log_y) ? y : kNone; };
  MarkSeries found{series.name, {}};
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = series.x[i], ideal = series.ideal.empty() ? kNone : series.ideal[i];
    const bool stands = drawing.categories.empty() ? drawable(x, drawing.log_x)
                                                   : is_place(x, drawing.categories.size());
    if (stands) found.marks.push_back({x, on_y(series.y[i]), on_y(ideal)});
  }
  std::stable_sort(found.marks.begin(), found.marks.end(),
                   [](const Mark& a, const Mark& b) { return a.x < b.x; });
  return found;
}

// Bars over numbers stand side by side in the order of the numbers, evenly.
void make_categories(Drawing& drawing) {
  std::set<double> distinct;
  for (const MarkSeries& series : drawing.series) {
    for (const Mark& mark : series.marks) distinct.insert(mark.x);
  }
  for (double x : distinct) drawing.categories.push_back(short_number(x, 6));
  for (MarkSeries& series : drawing.series) {
    for (Mark& mark : series.marks) {
      mark.x = static_cast<double>(std::distance(distinct.begin(), distinct.find(mark.x)));
    }
  }
}

template <class Take>
std::vector<double> gather(const Drawing& drawing, Take take) {
  std::vector<double> values;
  for (const MarkSeries& series : drawing.series) {
    for (const Mark& mark : series.marks) take(mark, values);
  }
  return values;
}

}  // namespace

std::size_t Drawing::count() const {
  std::size_t n = 0;
  for (const MarkSeries& each : series) {
    n += static_cast<std::size_t>(std::count_if(each.marks.begin(), each.marks.end(),
                                                [](const Mark& m) { return m.has_y(); }));
  }
  return n;
}

bool Drawing::has_ideal() const {
  return std::any_of(series.begin(), series.end(), [](const MarkSeries& each) {
    return std::any_of(each.marks.begin(), each.marks.end(),
                       [](const Mark& m) { return m.has_ideal(); });
  });
}

std::vector<double> Drawing::xs() const {
  return gather(*this, [](const Mark& mark, std::vector<double>& values) {
    if (mark.has_y() || mark.has_ideal()) values.push_back(mark.x);
  });
}

std::vector<double> Drawing::ys() const {
  return gather(*this, [](const Mark& mark, std::vector<double>& values) {
    if (mark.has_y()) values.push_back(mark.y);
    if (mark.has_ideal()) values.push_back(mark.ideal);
  });
}

Drawing drawing_of(const Chart& chart) {
  check(chart);
  const bool numbers = chart.categories.empty();
  const bool log_x = chart.log_x && numbers && chart.kind != ChartKind::bars;
  Drawing drawing{chart.kind, chart.x_label, chart.y_label, log_x, chart.log_y, chart.categories,
                  {}};
  for (const ChartSeries& series : chart.series) {
    drawing.series.push_back(marks_of(series, drawing));
  }
  if (chart.kind == ChartKind::bars && numbers) make_categories(drawing);
  return drawing;
}

}  // namespace strata
