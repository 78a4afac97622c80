#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "gui/models/sweep/result_chart.h"

namespace strata::gui {
namespace {

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
