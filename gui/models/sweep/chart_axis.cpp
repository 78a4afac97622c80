#include "gui/models/sweep/chart_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "gui/models/sweep/result_chart.h"
#include "sim/report/number.h"

namespace strata::gui {
namespace {

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
  constexpr std::array<AxisUnit, 4> kBytes = {{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  constexpr std::array<AxisUnit, 4> kRates = {
      {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
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

}  // namespace

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

}  // namespace strata::gui
