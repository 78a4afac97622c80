// `strata query DB [SQL]`: what is in a database, as a table, JSON or CSV; nothing can be changed.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/base/error.h"
#include "sim/json/query_json.h"
#include "sim/report/document.h"
#include "sim/store/store.h"
#include "sim/study/report/query_cells.h"
#include "sim/text/file.h"

namespace strata {
namespace {

struct QueryFlags {
  std::string database, sql, scenario, csv;
  bool json = false;
};

bool is_number(const QueryResult& result, std::size_t column) {
  for (const auto& row : result.rows) {
    if (std::holds_alternative<std::string>(row[column])) return false;
  }
  return true;
}

std::string result_text(const QueryResult& result) {
  std::vector<TextTable::Column> columns;
  const ReportTable cells = table_of(result);
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    using Align = TextTable::Align;
    columns.push_back({result.columns[i], is_number(result, i) ? Align::right : Align::left});
  }
  TextTable table(std::move(columns));
  for (const auto& row : cells.rows) {
    std::vector<std::string> line;
    line.reserve(row.size());
    for (const Cell& cell : row) line.push_back(cell.text);
    table.add_row(std::move(line));
  }
  return table.print();
}

void print_as_json(const QueryResult& result) try {
  print_json(query_json(result));
} catch (InputError& error) {
  error.add_context("--json");
  throw;
}

void run_query(const QueryFlags& flags) {
  check_outputs({flags.csv}, {flags.database});
  Store store(flags.database, OpenMode::read);
  if (!flags.scenario.empty()) store.scenario_text(flags.scenario);  // or an error with the names
  const QueryResult result = store.query(flags.sql.empty() ? kEachCase : flags.sql, flags.scenario);
  if (!flags.csv.empty()) {
    ReportTable table = table_of(result);
    table.columns = result.columns;
    write_file_whole(flags.csv, print_csv(table));
  }
  if (flags.json) return print_as_json(result);
  if (flags.csv.empty()) print("{}", result_text(result));
}

}  // namespace

void add_query_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("query", "read a database of sweeps with SQL");
  auto flags = std::make_shared<QueryFlags>();
  command->add_option("DB", flags->database, "a database of strata sweep")->required();
  command->add_option("SQL", flags->sql,
                      "one SELECT; views: cases, case_layers, progress, predictions, solves, runs, "
                      "failures (docs/store.md; default: all cases)");
  command->add_option("--scenario", flags->scenario,
                      "cases holds this scenario's rows, in its order (default: all rows)");
  command->add_option("--csv", flags->csv, "write CSV");
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run_query(*flags); });
}

}  // namespace strata
