#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gui/models/sweep/result_set.h"

namespace strata::gui {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

struct StoreColumn {
  std::string_view name;
  bool numeric = false;
  bool setting = false;
  Quantity quantity = Quantity::none;
};

constexpr std::array<StoreColumn, 8> kFirstColumns = {{{"sweep", false, true},
                                                       {"job", false, true},
                                                       {"model", false, true},
                                                       {"cluster", false, true},
                                                       {"strategy", false, true},
                                                       {"sync", false, true},
                                                       {"dtype", false, true},
                                                       {"devices", true, true}}};
// What was found stands behind the settings.
constexpr std::array<StoreColumn, 22> kLastColumns = {
    {{"batch", true, true},
     {"step_seconds", true, false, Quantity::seconds},
     {"eq1_seconds", true, false, Quantity::seconds},
     {"throughput", true},
     {"comm_bytes", true, false, Quantity::bytes},
     {"transfer_bytes", true, false, Quantity::bytes},
     {"sync_bytes", true, false, Quantity::bytes},
     {"peak_memory_bytes", true, false, Quantity::bytes},
     {"fits"},
     {"measured_share", true},
     {"p50_seconds", true, false, Quantity::seconds},
     {"p95_seconds", true, false, Quantity::seconds},
     {"optimal"},
     {"lower_bound_seconds", true, false, Quantity::seconds},
     {"solve_seconds", true, false, Quantity::seconds},
     {"final_nodes", true},
     {"max_configs", true},
     {"measured_seconds", true, false, Quantity::seconds},
     {"relative_error", true},
     {"moved_bytes", true, false, Quantity::bytes},
     {"wall_seconds", true, false, Quantity::seconds},
     {"error"}}};

// Those with a column of their own, and one that changes no answer.
bool has_own_column(std::string_view key) {
  constexpr std::array<std::string_view, 8> kOwn = {"model", "cluster", "devices", "strategy",
                                                    "sync",  "dtype",   "batch",   "layers"};
  return std::find(kOwn.begin(), kOwn.end(), key) != kOwn.end();
}

double number_of(const Field& field) {
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&field)) return *real;
  return kNothing;
}

std::string_view word_of(const Field& field) {
  if (const auto* flag = std::get_if<std::int64_t>(&field)) return *flag != 0 ? "yes" : "no";
  const auto* text = std::get_if<std::string>(&field);
  return text != nullptr ? std::string_view(*text) : std::string_view();
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

}  // namespace

bool ResultBuilder::is_stored(std::string_view column) {
  const auto named = [&](const StoreColumn& stored) { return stored.name == column; };
  return std::any_of(kFirstColumns.begin(), kFirstColumns.end(), named) ||
         std::any_of(kLastColumns.begin(), kLastColumns.end(), named);
}

// The view `cases` would say the same, but by way of every case of a scenario for each row. In a
// CROSS JOIN SQLite keeps the order of the tables, and finds the case by its key.
std::string ResultBuilder::query(std::int64_t after_id, std::size_t most,
                                 const std::string& scenario) {
  const std::string newest = scenario.empty()
                                 ? ""
                                 : fmt::format(
                                       " AND n.id = (SELECT id FROM scenario WHERE name = {} "
                                       "ORDER BY recorded DESC, id DESC LIMIT 1)",
                                       sql_quoted(scenario));
  std::string list = fmt::format(
      "(SELECT c.sweep FROM scenario AS n CROSS JOIN scenario_case AS c ON c.scenario = n.id "
      "WHERE c.key = (SELECT key FROM result WHERE id = r.id){} "
      "ORDER BY n.recorded DESC, n.id DESC, c.ordinal LIMIT 1) AS sweep",
      newest);
  for (const StoreColumn& column : std::span(kFirstColumns).subspan(1)) {
    list += fmt::format(", r.{}", column.name);
  }
  for (const StoreColumn& column : kLastColumns) list += fmt::format(", r.{}", column.name);
  return fmt::format(
      "SELECT r.id, r.settings, {} FROM results AS r WHERE r.id > {}{} "
      "ORDER BY r.id LIMIT {}",
      list, after_id, scenario.empty() ? "" : " AND sweep IS NOT NULL", most);
}

void ResultBuilder::Words::add(std::size_t row, std::string_view word) {
  auto at = places.find(word);
  if (at == places.end()) {
    at = places.emplace(word, static_cast<std::uint32_t>(names.size())).first;
    names.emplace_back(word);
  }
  rows.resize(row + 1);
  rows[row] = at->second;
}

void ResultBuilder::add_settings(std::size_t row, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (has_own_column(key)) continue;
    const std::string name = key.starts_with("set.") ? key.substr(4) : key;
    settings_[name].add(row, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void ResultBuilder::append(const QueryResult& result) {
  for (const auto& fields : result.rows) {
    const std::size_t row = ids_.size();
    ids_.push_back(std::get<std::int64_t>(fields.at(0)));
    last_id_ = std::max(last_id_, ids_.back());
    add_settings(row, std::get<std::string>(fields.at(1)));
    std::size_t at = 2;
    const auto add = [&](const StoreColumn& column) {
      const std::string name(column.name);
      const Field& field = fields.at(at++);
      column.numeric ? numbers_[name].push_back(number_of(field))
                     : words_[name].add(row, word_of(field));
    };
    for (const StoreColumn& column : kFirstColumns) add(column);
    for (const StoreColumn& column : kLastColumns) add(column);
  }
}

ResultSetPtr ResultBuilder::build() const {
  std::vector<ResultColumn> columns;
  const auto drop_first = [](const std::vector<std::string>& names) {
    return std::vector<std::string>(names.begin() + 1, names.end());
  };
  const auto add = [&](const StoreColumn& stored) {
    const std::string name(stored.name);
    if (const auto numbers = numbers_.find(name); numbers != numbers_.end()) {
      columns.push_back({name, true, stored.setting, stored.quantity, numbers->second, {}});
    } else if (const auto words = words_.find(name); words != words_.end()) {
      columns.push_back(word_column(name, drop_first(words->second.names), words->second.rows));
      columns.back().setting = stored.setting;
    }
  };
  for (const StoreColumn& column : kFirstColumns) add(column);
  for (const auto& [name, words] : settings_) {
    std::vector<std::uint32_t> places = words.rows;
    places.resize(ids_.size());
    columns.push_back(setting_column(name, drop_first(words.names), places));
  }
  for (const StoreColumn& column : kLastColumns) add(column);
  return std::make_shared<const ResultSet>(std::move(columns), ids_);
}

}  // namespace strata::gui
