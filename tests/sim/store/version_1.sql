-- A store of version 1, as it was before steps had percentiles: `result` lacks p50_seconds and
-- p95_seconds. It is never changed: files of this kind have to be opened for ever.

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
  wall_seconds            REAL NOT NULL CHECK (wall_seconds >= 0)
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
CREATE VIEW results AS
  SELECT r.id AS id, lower(hex(r.key)) AS key, job, model, cluster, strategy, sync, dtype,
         devices, batch, settings, done, error, step_seconds, eq1_seconds, throughput, comm_bytes,
         transfer_bytes, sync_bytes, peak_memory_bytes, fits, measured_share, interpolated_share,
         analytic_share, optimal, lower_bound_seconds, table_seconds, solve_seconds, final_nodes,
         max_configs, measured_seconds, measured_spread_seconds, relative_error, moved_bytes,
         wall_seconds,
         i.version AS version, i.command AS command, i.host AS host, r.finished AS finished
  FROM result AS r JOIN invocation AS i ON i.id = r.invocation;
CREATE VIEW predictions AS
  SELECT key, model, cluster, strategy, sync, dtype, devices, batch, step_seconds, eq1_seconds,
         throughput, comm_bytes, transfer_bytes, sync_bytes, peak_memory_bytes, fits,
         measured_share, interpolated_share, analytic_share
  FROM results WHERE job = 'predict' AND done;
CREATE VIEW solves AS
  SELECT key, model, cluster, strategy, sync, dtype, devices, batch, step_seconds, eq1_seconds,
         throughput, comm_bytes, transfer_bytes, sync_bytes, peak_memory_bytes, fits, optimal,
         lower_bound_seconds, table_seconds, solve_seconds, final_nodes,
         max_configs
  FROM results WHERE job = 'solve' AND done;
CREATE VIEW runs AS
  SELECT key, model, cluster, strategy, sync, dtype, devices, batch, measured_seconds,
         measured_spread_seconds, step_seconds, eq1_seconds,
         relative_error, throughput, comm_bytes, moved_bytes
  FROM results WHERE job = 'run' AND done;
CREATE VIEW failures AS
  SELECT key, job, model, cluster, strategy, sync, dtype, devices, batch, error, settings,
         version, command, host, finished
  FROM results WHERE NOT done;

INSERT INTO invocation (id, version, command, host, pid, started)
  VALUES (7, '0.1.0', 'strata sweep old.toml', 'box', 42, '2026-11-21T08:00:00Z');
INSERT INTO input (id, kind, name, hash)
  VALUES (3, 'model', 'lenet5', x'0102030405060708090a0b0c0d0e0f10');
INSERT INTO result (id, key, invocation, finished, job, model, cluster, strategy, sync, dtype,
                    devices, batch, settings, done, error, step_seconds, wall_seconds)
  VALUES (5, x'00000000000000000000000000000001', 7, '2026-11-21T08:00:01Z', 'predict', 'lenet5',
          'p100-1x2', 'data', 'ring', 'fp32', 2, 64, '{"model": "lenet5"}', 1, '', 0.25, 0.5);
INSERT INTO result_input (result, ordinal, input) VALUES (5, 0, 3);
INSERT INTO layer (result, ordinal, name, n, c, d, h, w, compute_seconds, transfer_seconds,
                   sync_seconds)
  VALUES (5, 0, 'conv1', 2, 1, 1, 1, 1, 0.125, 0, 0.0625);
INSERT INTO scenario (id, name, file, text, hash, recorded)
  VALUES (2, 'old', 'old.toml', 'name = "old"', x'ffffffffffffffffffffffffffffffff',
          '2026-11-21T08:00:00.000Z');
INSERT INTO scenario_case (scenario, ordinal, sweep, key)
  VALUES (2, 0, 'all', x'00000000000000000000000000000001');
PRAGMA application_id = 1398035009;
PRAGMA user_version = 1;
