#include "sim/store/query_views.h"

#include <string_view>

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
    "l.c, l.d, l.h, l.w, l.compute_seconds, l.transfer_seconds, l.sync_seconds "
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

}  // namespace strata
