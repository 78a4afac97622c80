#include "gui/models/sweep/result_builder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <nlohmann/json.hpp>

namespace strata::gui {
namespace {

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

}  // namespace

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

}  // namespace strata::gui
