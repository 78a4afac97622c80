#include "gui/models/sweep/result_set.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gui/models/text.h"
#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

constexpr double kWithoutFraction = 1000;  // from here on, nobody reads fractions

std::string number_text(double value) {
  const bool whole = value == std::floor(value) || std::abs(value) >= kWithoutFraction;
  if (whole && has_text(value, Quantity::none)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string quantity_text(double value, Quantity quantity) {
  if (!has_text(value, quantity)) return number_text(value);
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

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Those with a column of their own, and one that changes no answer.
bool has_own_column(std::string_view key) {
  const auto has = [](std::string_view name) {
    const ColumnSpec* const own = find_column(name);
    return own != nullptr && own->group == ColumnGroup::question;
  };
  return has(key) || has(std::string(key) + "_bytes") || key == "layers";
}

std::string_view word_of(const Field& field) {
  if (const auto* flag = std::get_if<std::int64_t>(&field)) return *flag != 0 ? "yes" : "no";
  const auto* text = std::get_if<std::string>(&field);
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

// Why there is no answer is long, and seldom there.
std::vector<StoredColumn> shown_columns() {
  std::vector<StoredColumn> shown = {{"sweep", false, true}};
  for (const ColumnSpec& column : columns()) {
    if (column.rank == ColumnRank::detail || column.key == "error") continue;
    const ColumnType type = type_of(column);
    const bool setting = column.group == ColumnGroup::job || column.group == ColumnGroup::question;
    shown.push_back({column.key, type == ColumnType::integer || type == ColumnType::real, setting});
  }
  shown.push_back({"error"});
  return shown;
}

// The values of the words as numbers of one quantity, if they are; else nothing.
std::optional<std::vector<Measure>> measures_of(const std::vector<std::string>& words) {
  std::vector<Measure> measures;
  for (const std::string& word : words) {
    const auto measure = measure_of(word);
    if (!measure || measure->quantity != (measures.empty() ? *measure : measures[0]).quantity) {
      return std::nullopt;
    }
    measures.push_back(*measure);
  }
  return measures;
}

// `places` by row, from 1; 0 is nothing.
ResultColumn word_column(std::string name, const std::vector<std::string>& words,
                         const std::vector<std::uint32_t>& places) {
  ResultColumn column{std::move(name)};
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return natural_less(words[a], words[b]); });
  std::vector<double> place_of(words.size() + 1, kNothing);
  for (const std::size_t i : order) {
    place_of[i + 1] = static_cast<double>(column.words.size());
    column.words.push_back(words[i]);
  }
  column.values.reserve(places.size());
  for (const std::uint32_t place : places) column.values.push_back(place_of[place]);
  return column;
}

ResultColumn setting_column(std::string name, const std::vector<std::string>& words,
                            const std::vector<std::uint32_t>& places) {
  const auto measures = measures_of(words);
  ResultColumn column =
      measures ? ResultColumn{std::move(name), true} : word_column(std::move(name), words, places);
  column.setting = true;
  if (!measures || measures->empty()) return column;
  column.quantity = measures->front().quantity;
  for (const std::uint32_t place : places) {
    column.values.push_back(place == 0 ? kNothing : (*measures)[place - 1].value);
  }
  return column;
}

std::vector<std::string> without_first(const std::vector<std::string>& names) {
  return {names.begin() + 1, names.end()};
}

std::optional<Measure> with_unit(const std::string& text) {
  try {
    if (is_factor(text)) return Measure{parse_factor(text), Quantity::factor};
    if (text.ends_with("/s")) return Measure{parse_bandwidth(text).value, Quantity::rate};
    if (text.ends_with("s")) return Measure{parse_seconds(text).value, Quantity::seconds};
    return Measure{static_cast<double>(parse_bytes(text).value), Quantity::bytes};
  } catch (const InputError&) {
    return std::nullopt;
  }
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

const std::vector<StoredColumn>& stored_columns() {
  static const std::vector<StoredColumn> kShown = shown_columns();
  return kShown;
}

ResultBuilder::ResultBuilder()
    : words_(stored_columns().size()), numbers_(stored_columns().size()) {}

// Most rows have the word of the row before.
std::uint32_t ResultBuilder::Words::place_of(std::string_view word) {
  if (!rows.empty() && names[rows.back()] == word) return rows.back();
  if (const auto at = places.find(word); at != places.end()) return at->second;
  names.emplace_back(word);
  return places.emplace(word, static_cast<std::uint32_t>(names.size() - 1)).first->second;
}

void ResultBuilder::Words::add(std::size_t row, std::string_view word) {
  const std::uint32_t place = place_of(word);
  rows.resize(row + 1);
  rows[row] = place;
}

void ResultBuilder::add_setting(std::size_t row, std::string_view key, std::string_view value) {
  if (has_own_column(key)) return;
  if (key.starts_with("set.")) key.remove_prefix(4);
  const auto at = settings_.find(key);
  (at != settings_.end() ? at->second : settings_[std::string(key)]).add(row, value);
}

void ResultBuilder::add_settings(std::size_t row, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) continue;
    if (const auto* word = value.get_ptr<const std::string*>()) {
      add_setting(row, key, *word);
    } else {
      add_setting(row, key, value.dump());
    }
  }
}

void ResultBuilder::append(const QueryResult& result) {
  for (const auto& fields : result.rows) {
    const std::size_t row = ids_.size();
    ids_.push_back(std::get<std::int64_t>(fields.at(0)));
    last_id_ = std::max(last_id_, ids_.back());
    add_settings(row, std::get<std::string>(fields.at(1)));
    for (std::size_t i = 0; i < stored_columns().size(); ++i) {
      const Field& field = fields.at(i + 2);
      if (stored_columns()[i].numeric) {
        numbers_[i].push_back(strata::number_in(field).value_or(kNothing));
      } else {
        words_[i].add(row, word_of(field));
      }
    }
  }
}

ResultColumn ResultBuilder::stored_column(std::size_t i) const {
  const StoredColumn& stored = stored_columns()[i];
  std::string name(stored.name);
  if (stored.numeric) {
    return {std::move(name), true, stored.setting, key_unit(stored.name).quantity, numbers_[i], {}};
  }
  ResultColumn column =
      word_column(std::move(name), without_first(words_[i].names), words_[i].rows);
  column.setting = stored.setting;
  return column;
}

void ResultBuilder::add_setting_columns(std::vector<ResultColumn>& columns) const {
  for (const auto& [name, words] : settings_) {
    std::vector<std::uint32_t> places = words.rows;
    places.resize(ids_.size());
    columns.push_back(setting_column(name, without_first(words.names), places));
  }
}

ResultSetPtr ResultBuilder::build() const {
  std::vector<ResultColumn> columns;
  for (std::size_t i = 0; i < stored_columns().size(); ++i) {
    if (stored_columns()[i].name == "batch") add_setting_columns(columns);
    columns.push_back(stored_column(i));
  }
  return std::make_shared<const ResultSet>(std::move(columns), ids_);
}

// Words of a store, as quantities, in order and in quotes.

std::optional<Measure> measure_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  if (stop != end) return with_unit(text);
  return std::isfinite(value) ? std::optional(Measure{value, Quantity::none}) : std::nullopt;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](std::string_view text) {
    const auto end = std::find_if_not(text.begin(), text.end(), digit);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  };
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    std::string_view x = digits(a), y = digits(b);
    if (x.empty() || y.empty()) x = a.substr(0, 1), y = b.substr(0, 1);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    a.remove_prefix(x.size());
    b.remove_prefix(y.size());
  }
  return a.empty() && b.empty() ? whole_a < whole_b : a.empty() && !b.empty();
}

}  // namespace strata::gui
