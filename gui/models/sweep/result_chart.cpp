#include "gui/models/sweep/result_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "sim/store/result.h"

namespace strata::gui {
namespace {

bool stands_before(const ChartPoint& a, const ChartPoint& b) {
  return std::tie(a.x, a.y, a.row) < std::tie(b.x, b.y, b.row);
}

std::vector<ChartPoint> points_of(const ResultSet& results, std::span<const std::uint32_t> rows,
                                  std::size_t x, std::size_t y) {
  std::vector<ChartPoint> points;
  for (const std::uint32_t row : rows) {
    const double at = results[x].values[row], up = results[y].values[row];
    if (std::isfinite(at) && std::isfinite(up)) points.push_back({at, up, row});
  }
  return points;
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

// Rows without a series stand before all others.
double series_value(const ResultSet& results, std::optional<std::size_t> series,
                    std::uint32_t row) {
  return series ? results[*series].values[row] : 0;
}
bool series_before(double a, double b) {
  return std::isnan(a) ? !std::isnan(b) : a < b;
}

std::vector<PointSeries> by_series(const ResultSet& results, std::span<const std::uint32_t> rows,
                                   std::size_t x, std::size_t y,
                                   std::optional<std::size_t> series) {
  std::vector<ChartPoint> points = points_of(results, rows, x, y);
  const auto value = [&](const ChartPoint& p) { return series_value(results, series, p.row); };
  std::sort(points.begin(), points.end(), [&](const ChartPoint& a, const ChartPoint& b) {
    const double of_a = value(a), of_b = value(b);
    if (series_before(of_a, of_b) || series_before(of_b, of_a)) return series_before(of_a, of_b);
    return stands_before(a, b);
  });
  std::vector<PointSeries> all;
  for (const ChartPoint& point : points) {
    const double of_point = value(point);
    if (all.empty() || series_before(all.back().value, of_point)) {
      const bool named = series && !std::isnan(of_point);
      all.push_back({named ? results[*series].text_of(of_point) : "", of_point, {}, {}});
    }
    all.back().points.push_back(point);
  }
  return all;
}

// One point of each cell of a picture that is so many cells wide and high.
class Cells {
 public:
  Cells(const ResultColumn& x, const ResultColumn& y, std::span<const std::uint32_t> kept)
      : x_(x), y_(y), kept_(kept.begin(), kept.end()) {
    std::sort(kept_.begin(), kept_.end());
  }

  std::vector<ChartPoint> first_of_each(const std::vector<ChartPoint>& points,
                                        std::uint32_t across) const {
    std::vector<char> taken(std::size_t{across} * across, 0);
    std::vector<ChartPoint> first;
    for (const ChartPoint& point : points) {
      char& here = taken[cell(point, across)];
      if (here == 0 || std::binary_search(kept_.begin(), kept_.end(), point.row)) {
        first.push_back(point);
      }
      here = 1;
    }
    return first;
  }

 private:
  std::size_t cell(const ChartPoint& point, std::uint32_t across) const {
    const auto place = [&](const ResultColumn& column, double value) {
      const auto at =
          static_cast<std::uint32_t>(*level(column, value) * static_cast<float>(across));
      return std::min(at, across - 1);
    };
    return std::size_t{place(y_, point.y)} * across + place(x_, point.x);
  }

  const ResultColumn& x_;
  const ResultColumn& y_;
  std::vector<std::uint32_t> kept_;
};

std::size_t count_points(const std::vector<PointSeries>& all) {
  std::size_t count = 0;
  for (const PointSeries& one : all) count += one.points.size();
  return count;
}

// Cells grow until there are few enough. The finest are as small as the dots that are drawn.
void spread_out(std::vector<PointSeries>& all, const Cells& cells, std::size_t most) {
  constexpr std::uint32_t kFinest = 512;
  for (std::uint32_t across = kFinest; across > 1 && count_points(all) > most; across /= 2) {
    for (PointSeries& one : all) one.points = cells.first_of_each(one.points, across);
  }
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
                                   std::size_t most, std::span<const std::uint32_t> kept) {
  std::vector<PointSeries> all = by_series(results, rows, x, y, series);
  for (PointSeries& one : all) {
    one.line = thinned(medians(one.points), std::max<std::size_t>(2, most / all.size()));
  }
  spread_out(all, Cells(results[x], results[y], kept), most);
  return all;
}

bool more_is_better(const ResultColumn& column) {
  const ColumnSpec* const stored = find_column(column.name);
  return stored != nullptr && stored->more_is_better;
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

}  // namespace strata::gui
