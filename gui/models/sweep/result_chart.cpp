#include "gui/models/sweep/result_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace strata::gui {
namespace {

std::vector<ChartPoint> points_of(const ResultSet& results, std::span<const std::uint32_t> rows,
                                  std::size_t x, std::size_t y) {
  std::vector<ChartPoint> points;
  for (const std::uint32_t row : rows) {
    const double at = results[x].values[row], up = results[y].values[row];
    if (std::isfinite(at) && std::isfinite(up)) points.push_back({at, up, row});
  }
  return points;
}

bool stands_before(const ChartPoint& a, const ChartPoint& b) {
  return std::tie(a.x, a.y, a.row) < std::tie(b.x, b.y, b.row);
}

// Of points from left to right, where those at the same x are sorted by y.
std::vector<ChartPoint> medians(const std::vector<ChartPoint>& points) {
  std::vector<ChartPoint> line;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && points[end].x == points[begin].x) ++end;
    line.push_back(points[begin + (end - begin - 1) / 2]);
  }
  return line;
}

}  // namespace

std::vector<ChartPoint> thinned(std::vector<ChartPoint> points, std::size_t most) {
  if (points.size() <= most || points.empty()) return points;
  const std::size_t strips = std::max<std::size_t>(1, most / 2);
  const double from = points.front().x, width = points.back().x - from;
  std::vector<ChartPoint> kept;
  const auto strip_of = [&](const ChartPoint& point) {
    return width > 0 ? static_cast<std::size_t>((point.x - from) / width *
                                                static_cast<double>(strips - 1))
                     : 0;
  };
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && strip_of(points[end]) == strip_of(points[begin])) ++end;
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = points.begin() + static_cast<std::ptrdiff_t>(end);
    const auto [low, high] = std::minmax_element(
        first, last, [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; });
    kept.push_back(std::min(*low, *high, stands_before));
    if (low != high) kept.push_back(std::max(*low, *high, stands_before));
  }
  return kept;
}

std::vector<PointSeries> series_of(const ResultSet& results, std::span<const std::uint32_t> rows,
                                   std::size_t x, std::size_t y, std::optional<std::size_t> series,
                                   std::size_t most) {
  std::map<double, PointSeries> all;
  for (const ChartPoint& point : points_of(results, rows, x, y)) {
    const double which = series ? results[*series].values[point.row] : 0;
    all[std::isnan(which) ? -std::numeric_limits<double>::infinity() : which].points.push_back(
        point);
  }
  std::vector<PointSeries> result;
  for (auto& [which, found] : all) {
    if (series && std::isfinite(which)) {
      found.name = results[*series].text_of(which);
      found.place = results[*series].kind_of(which);
    }
    std::sort(found.points.begin(), found.points.end(), stands_before);
    found.line = thinned(medians(found.points), std::max<std::size_t>(2, most / all.size()));
    found.points = thinned(std::move(found.points), std::max<std::size_t>(2, most / all.size()));
    result.push_back(std::move(found));
  }
  return result;
}

bool more_is_better(const ResultColumn& column) {
  return column.name == "throughput" || column.name == "measured_share";
}

std::vector<std::uint32_t> pareto_front(const ResultSet& results,
                                        std::span<const std::uint32_t> rows, std::size_t x,
                                        std::size_t y) {
  const double sign_x = more_is_better(results[x]) ? -1 : 1;
  const double sign_y = more_is_better(results[y]) ? -1 : 1;
  std::vector<ChartPoint> points = points_of(results, rows, x, y);
  for (ChartPoint& point : points) point.x *= sign_x, point.y *= sign_y;
  std::sort(points.begin(), points.end(), stands_before);
  std::vector<std::uint32_t> front;
  double best = std::numeric_limits<double>::infinity();
  for (const ChartPoint& point : points) {
    if (point.y >= best) continue;
    best = point.y;
    front.push_back(point.row);
  }
  return front;
}

bool wants_logarithm(const ResultColumn& column) {
  constexpr double kWide = 15;  // 1, 2, 4, 8, 16 are told apart better so
  return column.numeric && column.low > 0 && column.high / column.low >= kWide;
}

std::optional<ChartColumns> usual_columns(const ResultSet& results) {
  constexpr std::array kTimes = {"step_seconds", "measured_seconds", "eq1_seconds",
                                 "solve_seconds"};
  const auto y = std::find_if(kTimes.begin(), kTimes.end(),
                              [&](const char* name) { return results.find(name).has_value(); });
  if (y == kTimes.end()) return std::nullopt;
  ChartColumns chosen;
  chosen.y = *results.find(*y);
  std::optional<std::size_t> x;
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    const ResultColumn& column = results[i];
    if (!column.setting || !column.varies() || column.name == "sweep") continue;
    if (column.name == "batch" && x && results[*x].numeric) continue;  // it follows the devices
    if (!x || (column.numeric && !results[*x].numeric) ||
        (column.numeric && column.kinds.size() > results[*x].kinds.size())) {
      x = i;
    }
  }
  chosen.x = x.value_or(results.find("strategy").value_or(0));
  const auto strategy = results.find("strategy");
  if (strategy != chosen.x) chosen.series = strategy;
  return chosen;
}

std::vector<std::size_t> usual_axes(const ResultSet& results) {
  constexpr std::array kAnswers = {"step_seconds", "throughput", "comm_bytes", "peak_memory_bytes",
                                   "measured_seconds"};
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    const ResultColumn& column = results[i];
    const bool answer = std::find(kAnswers.begin(), kAnswers.end(), column.name) != kAnswers.end();
    if (column.varies() && (column.setting || answer)) axes.push_back(i);
  }
  return axes;
}

}  // namespace strata::gui
