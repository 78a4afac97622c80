#include "tests/sim/record/table.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/text/split.h"

namespace strata::testing {
namespace {

using Row = std::vector<std::string>;

std::string name_of(const Row& row, std::size_t keys) {
  return fmt::format("{}", fmt::join(row.begin(), row.begin() + keys, " "));
}

std::map<std::string, const Row*> by_name(const Table& table) {
  std::map<std::string, const Row*> rows;
  for (const Row& row : table.rows) rows.emplace(name_of(row, table.keys), &row);
  return rows;
}

Row cells_of(std::string_view line) {
  const std::vector<std::string_view> cells = split(line, '\t');
  return {cells.begin(), cells.end()};
}

void compare_rows(const Row& recorded, const Row& now, const Table& table,
                  std::vector<std::string>& lines) {
  for (std::size_t i = table.keys; i < table.columns.size(); ++i) {
    if (now[i] == recorded[i]) continue;
    lines.push_back(fmt::format("{}: {} is {}, recorded {}", name_of(now, table.keys),
                                table.columns[i], now[i], recorded[i]));
  }
}

std::string first_of(const std::vector<std::string>& lines, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < most; ++i) text += lines[i] + '\n';
  if (lines.size() > most) text += fmt::format("and {} more\n", lines.size() - most);
  return text;
}

Table only_names(Table table) {
  table.columns.resize(table.keys);
  for (Row& row : table.rows) row.resize(table.keys);
  return table;
}

}  // namespace

std::string print(const Table& table) {
  std::string text = fmt::format("{}\n", fmt::join(table.columns, "\t"));
  for (const Row& row : table.rows) text += fmt::format("{}\n", fmt::join(row, "\t"));
  return text;
}

Table parse_table(std::string_view text, const Table& empty) {
  Table table = empty;
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  if (lines.empty() || cells_of(lines.front()) != table.columns) {
    throw InputError(fmt::format("line 1: expected the columns {}", fmt::join(table.columns, " ")));
  }
  std::set<std::string> names;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    Row row = cells_of(lines[i]);
    if (row.size() != table.columns.size()) {
      throw InputError(fmt::format("line {}: expected {} cells", i + 1, table.columns.size()));
    }
    const std::string name = name_of(row, table.keys);
    if (!names.insert(name).second) {
      throw InputError(fmt::format("line {}: {} again", i + 1, name));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string differences(const Table& recorded, const Table& now, std::size_t most) {
  std::vector<std::string> lines;
  const auto old = by_name(recorded), present = by_name(now);
  for (const Row& row : now.rows) {
    const auto at = old.find(name_of(row, now.keys));
    if (at == old.end()) {
      lines.push_back(name_of(row, now.keys) + ": not in the record");
    } else {
      compare_rows(*at->second, row, now, lines);
    }
  }
  for (const Row& row : recorded.rows) {
    if (present.contains(name_of(row, now.keys))) continue;
    lines.push_back(name_of(row, now.keys) + ": in the record, but no case");
  }
  return first_of(lines, most);
}

std::string different_names(const Table& recorded, const Table& now) {
  return differences(only_names(recorded), only_names(now));
}

Table rows_named_by(const Table& table, const Table& other) {
  Table rows = table;
  const auto names = by_name(other);
  std::erase_if(rows.rows,
                [&](const Row& row) { return !names.contains(name_of(row, table.keys)); });
  return rows;
}

}  // namespace strata::testing
