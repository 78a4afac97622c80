#include "sim/store/schema.h"

#include <string>

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

// A column that is added by a migration stands at the end, so that old and new files are alike.
constexpr std::string_view kResults = R"sql(
CREATE TABLE result (
  id         INTEGER PRIMARY KEY,
  key        BLOB NOT NULL UNIQUE CHECK (length(key) = 16),
  invocation INTEGER NOT NULL REFERENCES invocation (id),
  finished   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  job        TEXT NOT NULL CHECK (job <> ''),
  model      TEXT NOT NULL,
  cluster    TEXT NOT NULL,
  strategy   TEXT NOT NULL,
  sync       TEXT NOT NULL,
  dtype      TEXT NOT NULL,
  devices    INTEGER NOT NULL CHECK (devices >= 0),
  batch      INTEGER NOT NULL CHECK (batch >= 0),
  settings   TEXT NOT NULL CHECK (json_valid(settings)),
  done       INTEGER NOT NULL CHECK (done IN (0, 1)),
  error      TEXT NOT NULL CHECK ((error = '') = done),
  step_seconds            REAL CHECK (step_seconds >= 0),
  eq1_seconds             REAL CHECK (eq1_seconds >= 0),
  throughput              REAL CHECK (throughput >= 0),
  comm_bytes              INTEGER CHECK (comm_bytes >= 0),
  transfer_bytes          INTEGER CHECK (transfer_bytes >= 0),
  sync_bytes              INTEGER CHECK (sync_bytes >= 0),
  peak_memory_bytes       INTEGER CHECK (peak_memory_bytes >= 0),
  fits                    INTEGER CHECK (fits IN (0, 1)),
  measured_share          REAL CHECK (measured_share >= 0),
  interpolated_share      REAL CHECK (interpolated_share >= 0),
  analytic_share          REAL CHECK (analytic_share >= 0),
  optimal                 INTEGER CHECK (optimal IN (0, 1)),
  lower_bound_seconds     REAL CHECK (lower_bound_seconds >= 0),
  table_seconds           REAL CHECK (table_seconds >= 0),
  solve_seconds           REAL CHECK (solve_seconds >= 0),
  final_nodes             INTEGER CHECK (final_nodes >= 0),
  max_configs             INTEGER CHECK (max_configs >= 0),
  measured_seconds        REAL CHECK (measured_seconds >= 0),
  measured_spread_seconds REAL CHECK (measured_spread_seconds >= 0),
  relative_error          REAL,
  moved_bytes             INTEGER CHECK (moved_bytes >= 0),
  wall_seconds            REAL NOT NULL CHECK (wall_seconds >= 0),
  p50_seconds             REAL CHECK (p50_seconds >= 0),
  p95_seconds             REAL CHECK (p95_seconds >= 0)
) STRICT;
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
  SELECT r.id AS id, lower(hex(r.key)) AS key, {},
         i.version AS version, i.command AS command, i.host AS host, r.finished AS finished
  FROM result AS r JOIN invocation AS i ON i.id = r.invocation;
CREATE VIEW predictions AS
  SELECT key, {}, {}, measured_share, interpolated_share, analytic_share, p50_seconds, p95_seconds
  FROM results WHERE job = 'predict' AND done;
CREATE VIEW solves AS
  SELECT key, {}, {}, optimal, lower_bound_seconds, table_seconds, solve_seconds, final_nodes,
         max_configs
  FROM results WHERE job = 'solve' AND done;
CREATE VIEW runs AS
  SELECT key, {}, measured_seconds, measured_spread_seconds, step_seconds, eq1_seconds,
         relative_error, throughput, comm_bytes, moved_bytes
  FROM results WHERE job = 'run' AND done;
CREATE VIEW failures AS
  SELECT key, job, {}, error, settings, version, command, host, finished
  FROM results WHERE NOT done;
)sql";

constexpr std::string_view kDropViews = R"sql(
DROP VIEW IF EXISTS failures;
DROP VIEW IF EXISTS runs;
DROP VIEW IF EXISTS solves;
DROP VIEW IF EXISTS predictions;
DROP VIEW IF EXISTS results;
)sql";

constexpr std::string_view kToVersion2 = R"sql(
ALTER TABLE result ADD COLUMN p50_seconds REAL CHECK (p50_seconds >= 0);
ALTER TABLE result ADD COLUMN p95_seconds REAL CHECK (p95_seconds >= 0);
)sql";

std::string views() {
  constexpr std::string_view kCase = "model, cluster, strategy, sync, dtype, devices, batch";
  constexpr std::string_view kStep =
      "step_seconds, eq1_seconds, throughput, comm_bytes, transfer_bytes, sync_bytes, "
      "peak_memory_bytes, fits";
  return fmt::format(kViews, kAnswerColumns, kCase, kStep, kCase, kStep, kCase, kCase);
}

std::string mark_version() {
  return fmt::format("PRAGMA user_version = {};", kSchemaVersion);
}

}  // namespace

void make_schema(Database& database) {
  for (const std::string_view tables : {kProvenance, kScenarios, kResults, kClaims}) {
    database.run(std::string(tables));
  }
  database.run(views());
  database.run(fmt::format("PRAGMA application_id = {};", kApplicationId) + mark_version());
}

std::int64_t schema_version(Database& database) {
  return database.integer("PRAGMA user_version");
}

void check_version(Database& database) {
  const std::int64_t version = schema_version(database);
  if (version >= 1 && version <= kSchemaVersion) return;
  throw InputError(
      fmt::format("{}: is of version {} of the store; this Strata knows versions 1 to "
                  "{}",
                  database.file(), version, kSchemaVersion));
}

void migrate(Database& database) {
  database.run(std::string(kDropViews));
  if (schema_version(database) < 2) database.run(std::string(kToVersion2));
  database.run(views() + mark_version());
}

}  // namespace strata
