#include "gui/models/sweep/result_filter.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "gui/models/sweep/result_set.h"

namespace strata::gui {
namespace {

using Passes = std::vector<char>;  // by row

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool holds_text(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// Those of the rows whose word passes.
void keep_any_word(const ResultSet& results, std::string_view part, Passes& passes) {
  Passes found(results.rows(), 0);
  for (const ResultColumn& column : results.columns()) {
    if (column.numeric) continue;
    Passes words;
    for (const std::string& word : column.words) words.push_back(holds_text(word, part) ? 1 : 0);
    if (std::find(words.begin(), words.end(), 1) == words.end()) continue;
    for (std::size_t row = 0; row < found.size(); ++row) {
      if (column.has(row) && words[static_cast<std::size_t>(column.values[row])] != 0)
        found[row] = 1;
    }
  }
  for (std::size_t row = 0; row < found.size(); ++row) passes[row] &= found[row];
}

/// "step<50ms", taken apart.
struct Condition {
  std::size_t column = 0;
  std::string sign, value;
};

// The column of this name, or the first whose name begins so.
std::optional<std::size_t> column_named(const ResultSet& results, std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (const auto exact = results.find(name)) return exact;
  const auto& columns = results.columns();
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const ResultColumn& c) { return c.name.starts_with(name); });
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns.begin());
}

std::optional<Condition> comparison_of(const ResultSet& results, const std::string& word) {
  const std::size_t at = word.find_first_of("<>=!");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t end = word.find_first_not_of("<>=!", at);
  const auto column = column_named(results, std::string_view(word).substr(0, at));
  if (!column || end == std::string::npos) return std::nullopt;
  return Condition{*column, word.substr(at, end - at), word.substr(end)};
}

bool compares(double a, const std::string& sign, double b) {
  if (sign == "<") return a < b;
  if (sign == "<=") return a <= b;
  if (sign == ">") return a > b;
  if (sign == ">=") return a >= b;
  const bool equal = std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
  return sign == "!=" ? !equal : equal;
}

void keep_compared(const ResultSet& results, const Condition& comparison, Passes& passes) {
  const ResultColumn& column = results[comparison.column];
  const auto measure = measure_of(comparison.value);
  for (std::size_t row = 0; row < passes.size(); ++row) {
    bool pass = column.has(row);
    if (pass && column.numeric) {
      pass = measure && compares(column.values[row], comparison.sign, measure->value);
    } else if (pass) {
      pass = (column.text(row) == comparison.value) == (comparison.sign != "!=");
    }
    if (!pass) passes[row] = 0;
  }
}

void keep_brushed(const ResultColumn& column, const Brush& brush, Passes& passes) {
  Passes words;
  for (const std::string& word : column.words) {
    words.push_back(std::find(brush.words.begin(), brush.words.end(), word) != brush.words.end());
  }
  for (std::size_t row = 0; row < passes.size(); ++row) {
    const double value = column.values[row];
    const bool pass = column.numeric
                          ? value >= brush.low && value <= brush.high
                          : column.has(row) && words[static_cast<std::size_t>(value)] != 0;
    if (!pass) passes[row] = 0;
  }
}

std::vector<std::string> typed_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Settings that are no columns of the view are read from their JSON object.
std::string sql_name(const ResultColumn& column) {
  if (ResultBuilder::is_stored(column.name)) return column.name;
  const std::string key = column.name.find('.') == std::string::npos && column.name != "overlap"
                              ? column.name
                              : "set." + column.name;
  return fmt::format("settings ->> '$.\"{}\"'", key);
}

std::string sql_of(const ResultColumn& column, const Brush& brush) {
  if (column.numeric && column.quantity != Quantity::none && column.setting) return {};
  if (column.numeric) {
    return fmt::format("{} BETWEEN {} AND {}", sql_name(column), brush.low, brush.high);
  }
  std::string words;
  for (const std::string& word : brush.words) {
    words += (words.empty() ? "" : ", ") + sql_quoted(word);
  }
  return fmt::format("{} IN ({})", sql_name(column), words);
}

}  // namespace

// Places of words move when new words come, so a brush keeps the words.
Brush brush_between(const ResultColumn& column, double a, double b) {
  if (a > b) std::swap(a, b);
  Brush brush;
  if (column.numeric) return {a, b, {}};
  for (std::size_t i = 0; i < column.words.size(); ++i) {
    const auto place = static_cast<double>(i);
    if (place >= a && place <= b) brush.words.push_back(column.words[i]);
  }
  return brush;
}

std::vector<std::uint32_t> passing(const ResultSet& results, const ResultFilter& filter) {
  Passes passes(results.rows(), 1);
  for (const auto& [name, brush] : filter.brushes) {
    if (const auto column = results.find(name)) keep_brushed(results[*column], brush, passes);
  }
  for (const std::string& word : typed_words(filter.text)) {
    const auto comparison = comparison_of(results, word);
    comparison ? keep_compared(results, *comparison, passes) : keep_any_word(results, word, passes);
  }
  std::vector<std::uint32_t> rows;
  for (std::size_t row = 0; row < passes.size(); ++row) {
    if (passes[row] != 0) rows.push_back(static_cast<std::uint32_t>(row));
  }
  return rows;
}

// Of a column that does not differ one does not ask.
std::string filter_error(const ResultSet& results, const std::string& text) {
  for (const std::string& word : typed_words(text)) {
    const std::size_t sign = word.find_first_of("<>=!");
    if (sign == std::string::npos || sign == 0 || results.columns().empty()) continue;
    const std::string name = word.substr(0, sign);
    const auto column = column_named(results, name);
    if (!column) {
      std::vector<std::string> names;
      for (const ResultColumn& each : results.columns()) {
        if (each.varies()) names.push_back(each.name);
      }
      return fmt::format("no column begins with '{}'; allowed: {}", name, fmt::join(names, ", "));
    }
    const auto comparison = comparison_of(results, word);
    if (comparison && results[*column].numeric && !measure_of(comparison->value)) {
      return fmt::format("{}: '{}' is no number; allowed: 4, 50ms, 1GB", results[*column].name,
                         comparison->value);
    }
  }
  return {};
}

std::string where_clause(const ResultSet& results, const ResultFilter& filter) {
  std::vector<std::string> conditions;
  for (const auto& [name, brush] : filter.brushes) {
    const auto column = results.find(name);
    if (!column) continue;
    std::string condition = sql_of(results[*column], brush);
    if (!condition.empty()) conditions.push_back(std::move(condition));
  }
  for (const std::string& word : typed_words(filter.text)) {
    const auto comparison = comparison_of(results, word);
    if (!comparison) continue;
    const ResultColumn& column = results[comparison->column];
    const auto measure = measure_of(comparison->value);
    if (column.numeric && !measure) continue;
    if (column.numeric && column.setting && column.quantity != Quantity::none) continue;
    conditions.push_back(fmt::format(
        "{} {} {}", sql_name(column), comparison->sign,
        column.numeric ? fmt::format("{}", measure->value) : sql_quoted(comparison->value)));
  }
  return conditions.empty() ? "" : fmt::format(" WHERE {}", fmt::join(conditions, " AND "));
}

}  // namespace strata::gui
