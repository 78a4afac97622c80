// The SQL that reads a store's rows, and texts in it.

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "gui/models/sweep/result_set.h"

namespace strata::gui {
namespace {

// The sweep that a row belongs to. The view `cases` would say the same, but by way of every case of
// a scenario for each row. In a CROSS JOIN SQLite keeps the order of the tables; and it has to be
// told of the index, or it walks all cases of a named scenario, which are in the order asked for.
std::string sweep_of_row(const std::string& scenario) {
  const std::string newest = scenario.empty()
                                 ? ""
                                 : fmt::format(
                                       " AND n.id = (SELECT id FROM scenario WHERE name = {} "
                                       "ORDER BY recorded DESC, id DESC LIMIT 1)",
                                       sql_quoted(scenario));
  return fmt::format(
      "(SELECT c.sweep FROM scenario AS n CROSS JOIN scenario_case AS c INDEXED BY "
      "case_by_key ON c.scenario = n.id WHERE c.key = (SELECT key FROM result WHERE id = r.id){} "
      "ORDER BY n.recorded DESC, n.id DESC, c.ordinal LIMIT 1) AS sweep",
      newest);
}

}  // namespace

bool ResultBuilder::is_stored(std::string_view column) {
  return std::ranges::find(stored_columns(), column, &StoredColumn::name) != stored_columns().end();
}

std::string ResultBuilder::query(std::int64_t after_id, std::size_t most,
                                 const std::string& scenario) {
  std::string list = sweep_of_row(scenario);
  for (const StoredColumn& column : std::span(stored_columns()).subspan(1)) {
    list += fmt::format(", r.{}", column.name);
  }
  return fmt::format(
      "SELECT r.id, r.settings, {} FROM results AS r WHERE r.id > {}{} "
      "ORDER BY r.id LIMIT {}",
      list, after_id, scenario.empty() ? "" : " AND sweep IS NOT NULL", most);
}

std::string sql_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace strata::gui
