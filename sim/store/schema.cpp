#include "sim/store/schema.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr std::string_view kProvenance = R"sql(
CREATE TABLE invocation (
  id      INTEGER PRIMARY KEY,
  version TEXT NOT NULL,
  command TEXT NOT NULL,
  host    TEXT NOT NULL,
  pid     INTEGER NOT NULL,
  started TEXT NOT NULL,
  UNIQUE (host, pid, started, command, version)
) STRICT;
CREATE TABLE input (
  id   INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 16),
  UNIQUE (hash, kind, name)
) STRICT;
)sql";

constexpr std::string_view kScenarios = R"sql(
CREATE TABLE scenario (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  file     TEXT NOT NULL,
  text     TEXT NOT NULL,
  hash     BLOB NOT NULL CHECK (length(hash) = 16),
  recorded TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  UNIQUE (name, hash)
) STRICT;
CREATE TABLE scenario_case (
  scenario INTEGER NOT NULL REFERENCES scenario (id) ON DELETE CASCADE,
  ordinal  INTEGER NOT NULL CHECK (ordinal >= 0),
  sweep    TEXT NOT NULL,
  key      BLOB NOT NULL CHECK (length(key) = 16),
  PRIMARY KEY (scenario, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX case_by_key ON scenario_case (scenario, key);
)sql";

constexpr std::string_view kResults = R"sql(
CREATE TABLE result (
  id         INTEGER PRIMARY KEY,
  key        BLOB NOT NULL UNIQUE CHECK (length(key) = 16),
  invocation INTEGER NOT NULL REFERENCES invocation (id),
  finished   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  {}
) STRICT;
)sql";

constexpr std::string_view kParts = R"sql(
CREATE TABLE result_input (
  result  INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  input   INTEGER NOT NULL REFERENCES input (id),
  PRIMARY KEY (result, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE layer (
  result  INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  name    TEXT NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 1),
  c INTEGER NOT NULL CHECK (c >= 1),
  d INTEGER NOT NULL CHECK (d >= 1),
  h INTEGER NOT NULL CHECK (h >= 1),
  w INTEGER NOT NULL CHECK (w >= 1),
  compute_seconds  REAL NOT NULL,
  transfer_seconds REAL NOT NULL,
  sync_seconds     REAL NOT NULL,
  PRIMARY KEY (result, ordinal)
) STRICT, WITHOUT ROWID;
)sql";

// What the table of layers has had since version 3: the cut of the reduction.
constexpr std::string_view kReductionOfLayers = R"sql(
ALTER TABLE layer ADD COLUMN r INTEGER NOT NULL DEFAULT 1 CHECK (r >= 1);
ALTER TABLE layer ADD COLUMN scatter TEXT NOT NULL DEFAULT 'n';
)sql";

// An owner stands for a process that lives, and goes with all its claims when it is found dead. Its
// number never comes again: who still holds it would hold the claims of another.
constexpr std::string_view kClaims = R"sql(
CREATE TABLE owner (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  invocation    INTEGER NOT NULL REFERENCES invocation (id),
  host          TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  process_start INTEGER NOT NULL,
  boot_id       TEXT NOT NULL
) STRICT;
CREATE TABLE claim (
  key   BLOB PRIMARY KEY NOT NULL CHECK (length(key) = 16),
  owner INTEGER NOT NULL REFERENCES owner (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_of_owner ON claim (owner);
)sql";

constexpr std::string_view kViews = R"sql(
CREATE VIEW results AS
  SELECT r.id AS id, lower(hex(r.key)) AS key, {all},
         i.version AS version, i.command AS command, i.host AS host, r.finished AS finished
  FROM result AS r JOIN invocation AS i ON i.id = r.invocation;
CREATE VIEW predictions AS
  SELECT key, {question}, {step}, {prediction}
  FROM results WHERE job = 'predict' AND done;
CREATE VIEW solves AS
  SELECT key, {question}, {step}, {solve}
  FROM results WHERE job = 'solve' AND done;
CREATE VIEW runs AS
  SELECT key, {question}, measured_seconds, measured_spread_seconds, step_seconds, eq1_seconds,
         relative_error, throughput, comm_bytes, moved_bytes
  FROM results WHERE job = 'run' AND done;
CREATE VIEW failures AS
  SELECT key, job, {question}, error, settings, version, command, host, finished
  FROM results WHERE NOT done;
)sql";

constexpr std::string_view kDropViews = R"sql(
DROP VIEW IF EXISTS failures;
DROP VIEW IF EXISTS runs;
DROP VIEW IF EXISTS solves;
DROP VIEW IF EXISTS predictions;
DROP VIEW IF EXISTS results;
)sql";

/// What a value must be; empty where any will do.
std::string check_of(const ColumnSpec& column) {
  if (column.key == "job") return "job <> ''";
  if (column.key == "settings") return "json_valid(settings)";
  if (column.key == "error") return "(error = '') = done";
  const ColumnType type = type_of(column);
  if (type == ColumnType::flag) return fmt::format("{} IN (0, 1)", column.key);
  const bool any = type == ColumnType::text || column.key == "relative_error";
  return any ? "" : fmt::format("{} >= 0", column.key);
}

/// "batch INTEGER NOT NULL CHECK (batch >= 0)".
std::string definition(const ColumnSpec& column) {
  const ColumnType type = type_of(column);
  const std::string_view sql_type = type == ColumnType::text   ? "TEXT"
                                    : type == ColumnType::real ? "REAL"
                                                               : "INTEGER";
  const std::string check = check_of(column);
  return fmt::format("{} {}{}{}", column.key, sql_type, is_optional(column) ? "" : " NOT NULL",
                     check.empty() ? "" : fmt::format(" CHECK ({})", check));
}

// Of the columns that came after a version, in the order in which they came: what migrations add
// stands at the end, so that old and new files are alike.
std::vector<std::string> definitions_since(std::int64_t version) {
  std::vector<std::string> definitions;
  while (++version <= newest_version()) {
    for (const ColumnSpec& column : columns()) {
      if (column.since == version) definitions.push_back(definition(column));
    }
  }
  return definitions;
}

std::string results() {
  return fmt::format(kResults, fmt::join(definitions_since(0), ",\n  "));
}

std::string columns_since(std::int64_t version) {
  std::string sql;
  for (const std::string& column : definitions_since(version)) {
    sql += fmt::format("ALTER TABLE result ADD COLUMN {};\n", column);
  }
  return sql;
}

template <class Wanted>
std::string keys_of(const Wanted& wanted) {
  std::vector<std::string_view> keys;
  for (const ColumnSpec& column : columns()) {
    if (wanted(column)) keys.push_back(column.key);
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

std::string views() {
  const auto of = [](ColumnGroup group) {
    return keys_of([group](const ColumnSpec& column) { return column.group == group; });
  };
  return fmt::format(
      kViews, fmt::arg("all", answer_columns()), fmt::arg("question", of(ColumnGroup::question)),
      fmt::arg("step", of(ColumnGroup::step)), fmt::arg("prediction", of(ColumnGroup::prediction)),
      fmt::arg("solve", of(ColumnGroup::solve)));
}

std::string mark_version() {
  return fmt::format("PRAGMA user_version = {};", newest_version());
}

}  // namespace

std::string answer_columns() {
  return keys_of([](const ColumnSpec& /*any*/) { return true; });
}

void make_schema(Database& database) {
  for (const std::string_view tables : {kProvenance, kScenarios}) database.run(std::string(tables));
  database.run(results());
  for (const std::string_view tables : {kParts, kReductionOfLayers, kClaims})
    database.run(std::string(tables));
  database.run(views());
  database.run(fmt::format("PRAGMA application_id = {};", kApplicationId) + mark_version());
}

std::int64_t schema_version(Database& database) {
  return database.integer("PRAGMA user_version");
}

void check_version(Database& database) {
  const std::int64_t version = schema_version(database);
  if (version >= 1 && version <= newest_version()) return;
  throw InputError(
      fmt::format("{}: is of version {} of the store; this Strata knows versions 1 to "
                  "{}",
                  database.file(), version, newest_version()));
}

void migrate(Database& database) {
  const std::int64_t version = schema_version(database);
  database.run(std::string(kDropViews));
  if (version < 3) database.run(std::string(kReductionOfLayers));
  database.run(columns_since(version) + views() + mark_version());
}

}  // namespace strata
