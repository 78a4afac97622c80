#include "gui/models/sweep/result_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr double kWithoutFraction = 1000;  // from here on, nobody reads fractions
constexpr double kPlainLimit = 1e15;       // beyond, units and whole digits say nothing

std::string number_text(double value) {
  const bool whole = value == std::floor(value) || std::abs(value) >= kWithoutFraction;
  if (whole && std::abs(value) < kPlainLimit) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string quantity_text(double value, Quantity quantity) {
  if (std::abs(value) >= kPlainLimit) return number_text(value);
  switch (quantity) {
    case Quantity::seconds:
      return human_seconds({value}).toStdString();
    case Quantity::bytes:
      return human_bytes({static_cast<std::int64_t>(std::llround(value))}).toStdString();
    case Quantity::rate:
      return human_rate({value}).toStdString();
    case Quantity::factor:
      return number_text(value) + "x";
    default:
      return number_text(value);
  }
}

// The strategies that everybody knows come first, then all others in their order.
std::size_t place_of_strategy(const std::vector<std::string>& words, const std::string& word) {
  constexpr std::array<std::string_view, 5> kKnown = {"data", "model", "owt", "optimal", "eq1"};
  const auto place = [&](const std::string& strategy) {
    return static_cast<std::size_t>(std::find(kKnown.begin(), kKnown.end(), strategy) -
                                    kKnown.begin());
  };
  if (place(word) < kKnown.size()) return place(word);
  const auto end = std::find(words.begin(), words.end(), word);
  return kKnown.size() +
         static_cast<std::size_t>(std::count_if(words.begin(), end, [&](const std::string& before) {
           return place(before) == kKnown.size();
         }));
}

// Infinite values have no place on an axis, though a store may hold them.
void count_values(ResultColumn& column) {
  constexpr std::size_t kCounted = 1000;
  std::vector<double>& seen = column.kinds;
  column.low = std::numeric_limits<double>::infinity();
  column.high = -column.low;
  for (const double value : column.values) {
    if (!std::isfinite(value)) continue;
    column.low = std::min(column.low, value);
    column.high = std::max(column.high, value);
    if (seen.size() >= kCounted) continue;
    const auto at = std::lower_bound(seen.begin(), seen.end(), value);
    if (at == seen.end() || *at != value) seen.insert(at, value);
  }
  if (seen.empty()) column.low = column.high = 0;
}

}  // namespace

std::string ResultColumn::text_of(double value) const {
  if (std::isnan(value)) return {};
  return numeric ? in_symbols(quantity_text(value, quantity)).toStdString()
                 : words.at(static_cast<std::size_t>(value));
}

std::size_t ResultColumn::kind_of(double value) const {
  if (name == "strategy" && !numeric) return place_of_strategy(words, text_of(value));
  return static_cast<std::size_t>(std::lower_bound(kinds.begin(), kinds.end(), value) -
                                  kinds.begin());
}

std::string ResultColumn::exact(std::size_t row) const {
  if (!has(row)) return {};
  return numeric ? fmt::format("{}", values[row]) : text(row);
}

ResultSet::ResultSet(std::vector<ResultColumn> columns, std::vector<std::int64_t> ids)
    : columns_(std::move(columns)), ids_(std::move(ids)) {
  for (ResultColumn& column : columns_) count_values(column);
  std::erase_if(columns_, [](const ResultColumn& column) { return column.kinds.empty(); });
}

std::optional<std::size_t> ResultSet::find(std::string_view name) const {
  const auto at = std::find_if(columns_.begin(), columns_.end(),
                               [&](const ResultColumn& column) { return column.name == name; });
  if (at == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns_.begin());
}

}  // namespace strata::gui
