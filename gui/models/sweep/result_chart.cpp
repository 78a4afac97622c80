#include "gui/models/sweep/result_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "sim/report/number.h"
#include "sim/result/result.h"

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

struct AxisUnit {
  double size = 1;
  std::string_view name;
};

// The largest of them that the value has one of.
template <std::size_t N>
AxisUnit largest(double value, const std::array<AxisUnit, N>& units) {
  const auto fits = std::find_if(units.begin(), units.end() - 1,
                                 [&](const AxisUnit& unit) { return value >= unit.size; });
  return *fits;
}

AxisUnit unit_for(Quantity quantity, double high) {
  constexpr std::array<AxisUnit, 3> kSeconds = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}}};
  constexpr std::array<AxisUnit, 7> kBytes = {
      {{1e18, "EB"}, {1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  constexpr std::array<AxisUnit, 7> kRates = {{{1e18, "EB/s"},
                                               {1e15, "PB/s"},
                                               {1e12, "TB/s"},
                                               {1e9, "GB/s"},
                                               {1e6, "MB/s"},
                                               {1e3, "kB/s"},
                                               {1, "B/s"}}};
  if (quantity == Quantity::seconds) return largest(high, kSeconds);
  if (quantity == Quantity::bytes) return largest(high, kBytes);
  if (quantity == Quantity::rate) return largest(high, kRates);
  return {1, quantity == Quantity::factor ? "x" : ""};
}

// From 0 where that costs little of the picture.
Range range_for(Range values, bool logarithm) {
  constexpr double kNearZero = 0.5;
  Range range = widened(values, logarithm);
  if (!logarithm && range.low > 0 && range.low < kNearZero * range.high) range.low = 0;
  return rounded_out(range, logarithm);
}

std::vector<double> distinct_values(const ResultColumn& column,
                                    std::span<const std::uint32_t> rows) {
  std::vector<double> values;
  for (const std::uint32_t row : rows) {
    if (std::isfinite(column.values[row])) values.push_back(column.values[row]);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Whether all of them stay.
bool cut_to(std::vector<double>& values, std::size_t most) {
  if (values.size() <= most) return true;
  values.resize(most);
  return false;
}

std::optional<std::size_t> place_in(const std::vector<double>& values, double value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at == values.end() || *at != value) return std::nullopt;
  return static_cast<std::size_t>(at - values.begin());
}

HeatCell median_cell(const ResultColumn& column, std::vector<std::uint32_t>& rows) {
  if (rows.empty()) return {};
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>((rows.size() - 1) / 2);
  std::nth_element(rows.begin(), middle, rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(column.values[a], a) < std::tie(column.values[b], b);
  });
  return {column.values[*middle], rows.size(), *middle};
}

// What is not there counts as a value of its own.
double shown_value(const ResultColumn& column, std::uint32_t row) {
  return column.has(row) ? column.values[row] : -std::numeric_limits<double>::infinity();
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

ChartAxis::ChartAxis(const ResultColumn& column, Range values, double from, double to)
    : scale_{{}, false, from, to}, words_(!column.numeric), title_(plain_name(column)) {
  words_ ? tick_words(column) : tick_numbers(column, values);
}

void ChartAxis::tick_words(const ResultColumn& column) {
  const std::size_t count = std::max<std::size_t>(1, column.words.size());
  scale_.range = {-0.5, static_cast<double>(count) - 0.5};
  for (std::size_t i = 0; i < column.words.size(); ++i) {
    ticks_.push_back({at(static_cast<double>(i)), column.words[i]});
  }
}

void ChartAxis::tick_numbers(const ResultColumn& column, Range shown) {
  scale_.logarithmic = wants_logarithm(column) && shown.low > 0;
  scale_.range = range_for(shown, scale_.logarithmic);
  const AxisUnit unit = unit_for(column.quantity, shown.high);
  if (!unit.name.empty()) title_ += fmt::format(" ({})", unit.name);
  std::vector<double> values = powers_of_two(column.kinds);
  if (!scale_.logarithmic || values.empty())
    values = strata::ticks(scale_.range, scale_.logarithmic);
  for (const double value : values) {
    ticks_.push_back({at(value), short_number(value / unit.size, 4)});
  }
}

double ChartAxis::at(double value) const {
  return scale_.at(value);
}

double ChartAxis::value_at(double pixel) const {
  const auto along = [this](double v) { return scale_.logarithmic ? std::log10(v) : v; };
  const double low = along(scale_.range.low), high = along(scale_.range.high);
  const double value = low + (pixel - scale_.from) / (scale_.to - scale_.from) * (high - low);
  return scale_.logarithmic ? std::pow(10, value) : value;
}

std::vector<std::size_t> mixed_settings(const ResultSet& results,
                                        std::span<const std::uint32_t> rows, std::size_t x,
                                        std::optional<std::size_t> series) {
  const auto place = [&](std::uint32_t row) {
    return std::pair(shown_value(results[x], row), series ? shown_value(results[*series], row) : 0);
  };
  std::vector<std::uint32_t> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  std::vector<std::size_t> mixed;
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    const ResultColumn& column = results[i];
    if (!column.setting || !column.varies() || column.name == "sweep") continue;
    const auto differ = [&](std::uint32_t a, std::uint32_t b) {
      return place(a) == place(b) && shown_value(column, a) != shown_value(column, b);
    };
    if (std::adjacent_find(sorted.begin(), sorted.end(), differ) != sorted.end())
      mixed.push_back(i);
  }
  return mixed;
}

HeatMap heat_map(const ResultSet& results, std::span<const std::uint32_t> rows, std::size_t x,
                 std::size_t y, std::size_t value, std::size_t most_values) {
  HeatMap map;
  map.xs = distinct_values(results[x], rows);
  map.ys = distinct_values(results[y], rows);
  const bool whole_x = cut_to(map.xs, most_values), whole_y = cut_to(map.ys, most_values);
  map.whole = whole_x && whole_y;
  std::vector<std::vector<std::uint32_t>> inside(map.xs.size() * map.ys.size());
  for (const std::uint32_t row : rows) {
    const auto at = place_in(map.xs, results[x].values[row]);
    const auto up = place_in(map.ys, results[y].values[row]);
    if (at && up && std::isfinite(results[value].values[row])) {
      inside[*up * map.xs.size() + *at].push_back(row);
    }
  }
  std::vector<double> medians;
  for (auto& cell : inside) {
    map.cells.push_back(median_cell(results[value], cell));
    if (map.cells.back().count > 0) medians.push_back(map.cells.back().value);
  }
  if (medians.empty()) return map;
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  map.low = *low;
  map.high = *high;
  return map;
}

std::optional<float> level(const ResultColumn& column, double value) {
  if (!std::isfinite(value)) return std::nullopt;
  const auto along = [logarithm = wants_logarithm(column)](double v) {
    return logarithm ? std::log(v) : v;
  };
  const double low = along(column.low), width = along(column.high) - low;
  return width > 0 ? static_cast<float>((along(value) - low) / width) : 0.5F;
}

std::vector<Stroke> strokes(const ResultSet& results, std::span<const std::uint32_t> rows,
                            std::size_t from, std::size_t to, std::optional<std::size_t> series,
                            std::size_t most) {
  constexpr float kPlaces = 400;  // as many as an axis has pixels
  using Key = std::tuple<int, int, double>;
  std::vector<Key> keys;
  for (const std::uint32_t row : rows) {
    const auto a = level(results[from], results[from].values[row]);
    const auto b = level(results[to], results[to].values[row]);
    if (!a || !b) continue;
    const double which = series ? results[*series].values[row] : 0;
    keys.emplace_back(static_cast<int>(std::lround(*a * kPlaces)),
                      static_cast<int>(std::lround(*b * kPlaces)),
                      std::isfinite(which) ? which : -std::numeric_limits<double>::infinity());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Stroke> result;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end] == keys[begin]) ++end;
    const auto& [a, b, which] = keys[begin];
    result.push_back(
        {static_cast<float>(a) / kPlaces, static_cast<float>(b) / kPlaces, which, end - begin});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Stroke& a, const Stroke& b) { return a.count < b.count; });
  if (result.size() > most)
    result.erase(result.begin(), result.end() - static_cast<std::ptrdiff_t>(most));
  return result;
}

}  // namespace strata::gui
