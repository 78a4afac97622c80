#pragma once

// Charts of rows as values: what a canvas paints. Where there are more points than anybody could
// tell apart, those that change the picture stay. Pure; thread-safe.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/models/sweep/result_set.h"
#include "sim/report/scale.h"

namespace strata::gui {

/// What a drawing may have before it is thinned out.
inline constexpr std::size_t kMostPoints = 10'000;

struct ChartPoint {
  double x = 0, y = 0;
  std::uint32_t row = 0;
  bool operator==(const ChartPoint&) const = default;
};

/// Points from left to right, and the line through the median of those at the same x.
struct PointSeries {
  std::string name;
  double value = 0;  ///< of the series' column; NaN: rows that have none
  std::vector<ChartPoint> points;
  std::vector<ChartPoint> line;
};

/// `series`: the column that tells them apart; none: all are one. Rows that lack x or y are left
/// out. About `most` points in all: of a picture in small cells, each series has one in every cell
/// that it has any in, so that its shape stays. Rows `kept` stay whatever happens.
std::vector<PointSeries> series_of(const ResultSet& results, std::span<const std::uint32_t> rows,
                                   std::size_t x, std::size_t y, std::optional<std::size_t> series,
                                   std::size_t most = kMostPoints,
                                   std::span<const std::uint32_t> kept = {});

/// Of a line from left to right: of each of so many strips, the lowest and the highest stay.
std::vector<ChartPoint> thinned(std::vector<ChartPoint> points, std::size_t most);

/// The settings that still differ between rows that have these columns in common: what a median of
/// such rows puts together.
std::vector<std::size_t> mixed_settings(const ResultSet& results,
                                        std::span<const std::uint32_t> rows, std::size_t x,
                                        std::optional<std::size_t> series);

/// Whether more of it is better: of throughput, say.
bool more_is_better(const ResultColumn& column);
/// The rows that no other is at least as good as in both and better in one; by x. Of equal ones the
/// first.
std::vector<std::uint32_t> pareto_front(const ResultSet& results,
                                        std::span<const std::uint32_t> rows, std::size_t x,
                                        std::size_t y);

/// The median of a column where two others have these values.
struct HeatCell {
  double value = 0;
  std::size_t count = 0;  ///< rows; 0: there is none
  std::uint32_t row = 0;  ///< one that has the median
};
struct HeatMap {
  std::vector<double> xs, ys;   ///< ascending
  std::vector<HeatCell> cells;  ///< by y, then x
  double low = 0, high = 0;     ///< of the values
  bool whole = true;            ///< else there were more values than a map can have

  const HeatCell& at(std::size_t x, std::size_t y) const { return cells[y * xs.size() + x]; }
};
HeatMap heat_map(const ResultSet& results, std::span<const std::uint32_t> rows, std::size_t x,
                 std::size_t y, std::size_t value, std::size_t most_values = 200);

/// What lies between two axes: rows that begin and end in the same places are one stroke.
struct Stroke {
  float from = 0, to = 0;  ///< 0 (low) to 1
  double series = 0;       ///< the value of the rows' series; not finite: none
  std::size_t count = 0;
};
/// Where a row stands on an axis, from 0 to 1; nothing where it has no value.
std::optional<float> level(const ResultColumn& column, double value);
/// The strokes between two columns, those of most rows last; at most `most`.
std::vector<Stroke> strokes(const ResultSet& results, std::span<const std::uint32_t> rows,
                            std::size_t from, std::size_t to, std::optional<std::size_t> series,
                            std::size_t most);

/// Whether a logarithmic axis tells its values apart better.
bool wants_logarithm(const ResultColumn& column);

// A side of a chart that values of a column lie along: where each is, and what its ticks say. Pure;
// thread-safe. Pixels may run either way.

struct AxisTick {
  double at = 0;  ///< pixels
  std::string label;
};

class ChartAxis {
 public:
  ChartAxis() = default;
  /// `values`: from the lowest to the highest that is shown; nothing to a column of words.
  ChartAxis(const ResultColumn& column, Range values, double from, double to);

  double at(double value) const;
  /// Of a column of words a place, with a fraction.
  double value_at(double pixel) const;
  const std::vector<AxisTick>& ticks() const { return ticks_; }
  /// "step time (ms)": with the unit that the ticks leave out.
  const std::string& title() const { return title_; }
  bool words() const { return words_; }

 private:
  void tick_words(const ResultColumn& column);
  void tick_numbers(const ResultColumn& column, Range values);

  Scale scale_;
  bool words_ = false;
  std::vector<AxisTick> ticks_;
  std::string title_;
};

}  // namespace strata::gui
