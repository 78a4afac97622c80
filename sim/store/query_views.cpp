#include "sim/store/query_views.h"

#include <cctype>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/store/query.h"

namespace strata {
namespace {

constexpr std::string_view kDrop =
    "DROP VIEW IF EXISTS temp.case_layers; DROP VIEW IF EXISTS temp.cases; "
    "DROP VIEW IF EXISTS temp.varying_keys; DROP VIEW IF EXISTS temp.progress; ";

/// The settings of the cases that are compared.
std::string settings_of(const std::string& scenario_id) {
  if (scenario_id.empty()) return "SELECT settings FROM result";
  return "SELECT r.settings FROM scenario_case AS s JOIN result AS r ON r.key = s.key "
         "WHERE s.scenario = " +
         scenario_id;
}

// A key that some cases lack varies too. Model, cluster and strategy have columns that are always
// shown, and whether layers are kept changes nothing of a case.
std::string varying_keys(const std::string& settings) {
  return fmt::format(
      "CREATE TEMP VIEW varying_keys AS SELECT j.key AS key FROM ({0}), json_each(settings) AS j "
      "WHERE j.key NOT IN ('model', 'cluster', 'devices', 'strategy', 'layers') "
      "GROUP BY j.key HAVING min(j.value) <> max(j.value) OR "
      "count(*) < (SELECT count(*) FROM ({0}));",
      settings);
}

// "batch 512, link.inter.bandwidth=2x": as --batch and --set would have it.
constexpr std::string_view kVaries =
    "coalesce((SELECT group_concat(CASE WHEN j.key GLOB 'set.*' "
    "THEN substr(j.key, 5) || '=' ELSE j.key || ' ' END || j.value, ', ') "
    "FROM json_each(r.settings) AS j WHERE j.key IN (SELECT key FROM varying_keys)), '') AS varies";

// A case may stand in several scenarios; the newest names it. CROSS keeps the order of the join:
// the index of cases is by scenario first, and without it every case is looked through.
constexpr std::string_view kSweep =
    "(SELECT c.sweep FROM scenario AS n CROSS JOIN scenario_case AS c ON c.scenario = n.id "
    "WHERE c.key = (SELECT key FROM result WHERE id = r.id) "
    "ORDER BY n.recorded DESC, n.id DESC, c.ordinal LIMIT 1) AS sweep";

std::string cases(const std::string& scenario_id) {
  if (scenario_id.empty()) {
    return fmt::format(
        "CREATE TEMP VIEW cases AS SELECT r.id AS ordinal, {}, {}, r.* FROM results AS r "
        "ORDER BY r.id;",
        kSweep, kVaries);
  }
  return fmt::format(
      "CREATE TEMP VIEW cases AS SELECT s.ordinal AS ordinal, s.sweep AS sweep, {}, r.* "
      "FROM scenario_case AS s JOIN results AS r ON r.id = (SELECT id FROM result WHERE key = "
      "s.key) WHERE s.scenario = {} ORDER BY s.ordinal;",
      kVaries, scenario_id);
}

constexpr std::string_view kCaseLayers =
    "CREATE TEMP VIEW case_layers AS SELECT c.ordinal, c.sweep, c.varies, c.job, c.model, "
    "c.cluster, c.strategy, c.sync, c.devices, c.batch, l.ordinal AS place, l.name AS layer, l.n, "
    "l.c, l.d, l.h, l.w, l.r, l.scatter, l.compute_seconds, l.transfer_seconds, l.sync_seconds "
    "FROM cases AS c JOIN layer AS l ON l.result = c.id ORDER BY c.ordinal, l.ordinal;";

// Of the newest scenario of each name, unless it is one alone.
std::string progress(const std::string& scenario_id) {
  const std::string newest =
      "(SELECT id FROM scenario AS o WHERE o.name = n.name ORDER BY o.recorded DESC, o.id DESC "
      "LIMIT 1)";
  return fmt::format(
      "CREATE TEMP VIEW progress AS SELECT n.name AS scenario, n.file AS file, s.sweep AS sweep, "
      "count(*) AS cases, count(CASE WHEN r.done THEN 1 END) AS answered, "
      "count(CASE WHEN NOT r.done THEN 1 END) AS failed, count(*) - count(r.id) AS missing "
      "FROM scenario AS n JOIN scenario_case AS s ON s.scenario = n.id "
      "LEFT JOIN result AS r ON r.key = s.key WHERE n.id = {} "
      "GROUP BY n.id, s.sweep ORDER BY n.recorded DESC, n.id DESC, min(s.ordinal);",
      scenario_id.empty() ? newest : scenario_id);
}

bool in_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// In lower case, as SQLite's names are alike in any. What stands in strings and comments counts
// too, which makes an error longer at worst.
std::set<std::string> words_in(std::string_view sql) {
  std::set<std::string> words;
  std::string word;
  for (char c : std::string(sql) + ' ') {
    if (in_a_name(c)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

/// Views first, those of queries foremost, in one order whatever the file.
std::vector<std::string> tables_of(Database& database) {
  Statement all(database,
                "SELECT name, 0 AS place FROM sqlite_temp_schema WHERE name <> 'varying_keys' "
                "UNION ALL SELECT name, CASE type WHEN 'view' THEN 1 ELSE 2 END FROM sqlite_schema "
                "WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite%' ORDER BY place, name");
  std::vector<std::string> names;
  while (all.step()) names.push_back(all.text(0));
  return names;
}

std::vector<std::string> columns_of(Database& database, const std::string& table) {
  return Statement(database, fmt::format("SELECT * FROM {} LIMIT 0", table)).column_names();
}

bool says(std::string_view words, std::string_view part) {
  return words.find(part) != std::string_view::npos;
}

}  // namespace

std::int64_t find_scenario(Database& database, const std::string& name) {
  Statement find(database,
                 "SELECT id FROM scenario WHERE name = ? ORDER BY recorded DESC, id DESC LIMIT 1");
  if (find.bind(name).step()) return find.integer(0);
  std::string there;
  for (const std::string& other : scenarios(database)) {
    there += (there.empty() ? "" : ", ") + other;
  }
  throw InputError(fmt::format("{}: has no scenario '{}'; it has: {}", database.file(), name,
                               there.empty() ? "none" : there));
}

void make_query_views(Database& database, const std::string& scenario) {
  const std::string id =
      scenario.empty() ? "" : fmt::format("{}", find_scenario(database, scenario));
  database.run(std::string(kDrop) + varying_keys(settings_of(id)) + cases(id) +
               std::string(kCaseLayers) + progress(id));
}

std::string what_there_is(Database& database, std::string_view sql, std::string_view words) {
  const std::vector<std::string> tables = tables_of(database);
  if (says(words, "no such table")) return fmt::format("; there are: {}", fmt::join(tables, ", "));
  if (!says(words, "no such column")) return {};
  const std::set<std::string> named = words_in(sql);
  std::string there;
  for (const std::string& table : tables) {
    if (!named.contains(table)) continue;
    there += fmt::format("; {} has: {}", table, fmt::join(columns_of(database, table), ", "));
  }
  return there;
}

}  // namespace strata
