#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "sim/store/open_store.h"
#include "sim/store/rows.h"
#include "sim/store/schema.h"

namespace strata {
namespace {

// The ids of both files differ: rows are matched by what they say, results by their key.

// The rows to take.
constexpr std::string_view kFresh = R"sql(
CREATE TEMP TABLE fresh AS
  SELECT o.id AS id, o.key AS key, o.invocation AS invocation FROM other.result AS o
  WHERE NOT EXISTS (SELECT 1 FROM main.result AS m WHERE m.key = o.key);
)sql";

constexpr std::string_view kProvenanceOfRows = R"sql(
INSERT INTO main.invocation (host, pid, started, command, version)
  SELECT host, pid, started, command, version FROM other.invocation
  WHERE id IN (SELECT invocation FROM fresh)
  ON CONFLICT DO NOTHING;
INSERT INTO main.input (hash, kind, name)
  SELECT hash, kind, name FROM other.input
  WHERE id IN (SELECT used.input FROM fresh JOIN other.result_input AS used ON used.result = fresh.id)
  ON CONFLICT DO NOTHING;
)sql";

constexpr std::string_view kRows = R"sql(
INSERT INTO main.result (key, invocation, finished, {0})
  SELECT o.key, m.id, o.finished, {0}
  FROM fresh JOIN other.result AS o ON o.id = fresh.id
  JOIN other.invocation AS i ON i.id = o.invocation
  JOIN main.invocation AS m ON (m.host, m.pid, m.started, m.command, m.version)
                             = (i.host, i.pid, i.started, i.command, i.version)
  ORDER BY o.id;
)sql";

constexpr std::string_view kPartsOfRows = R"sql(
INSERT INTO main.result_input (result, ordinal, input)
  SELECT m.id, used.ordinal, mine.id
  FROM fresh JOIN main.result AS m ON m.key = fresh.key
  JOIN other.result_input AS used ON used.result = fresh.id
  JOIN other.input AS theirs ON theirs.id = used.input
  JOIN main.input AS mine ON (mine.hash, mine.kind, mine.name)
                           = (theirs.hash, theirs.kind, theirs.name);
INSERT INTO main.layer (result, ordinal, name, n, c, d, h, w, r, scatter,
                        compute_seconds, transfer_seconds, sync_seconds)
  SELECT m.id, l.ordinal, l.name, l.n, l.c, l.d, l.h, l.w, l.r, l.scatter,
         l.compute_seconds, l.transfer_seconds, l.sync_seconds
  FROM fresh JOIN main.result AS m ON m.key = fresh.key
  JOIN other.layer AS l ON l.result = fresh.id;
)sql";

// Cases that a scenario has here already stay in their places; others follow in theirs.
constexpr std::string_view kScenariosOfFile = R"sql(
INSERT INTO main.scenario (name, file, text, hash, recorded)
  SELECT name, file, text, hash, recorded FROM other.scenario WHERE true ORDER BY id
  ON CONFLICT DO NOTHING;
INSERT INTO main.scenario_case (scenario, ordinal, sweep, key)
  SELECT m.id,
         o.ordinal + (SELECT coalesce(max(ordinal) + 1, 0) FROM main.scenario_case
                      WHERE scenario = m.id),
         o.sweep, o.key
  FROM other.scenario AS s JOIN main.scenario AS m ON m.name = s.name AND m.hash = s.hash
  JOIN other.scenario_case AS o ON o.scenario = s.id
  WHERE NOT EXISTS (SELECT 1 FROM main.scenario_case AS mine
                    WHERE mine.scenario = m.id AND mine.key = o.key AND mine.sweep = o.sweep);
)sql";

/// The other file, under the name `other`, read only.
class Attached {
 public:
  Attached(Database& database, const std::string& uri) : database_(database) {
    Statement(database, "ATTACH ? AS other").bind(uri).run();
  }
  ~Attached() {
    // Where it fails, closing the connection does it.
    try {
      database_.run("DETACH other");
    } catch (const Error&) {
    }
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Database& database_;
};

void check_other(const Database& into, const std::string& file) {
  check_identity(file);
  std::error_code error;
  if (std::filesystem::equivalent(into.file(), file, error)) {
    throw InputError(fmt::format("{}: cannot be merged into itself", file));
  }
}

void check_same_version(Database& other) {
  check_version(other);
  if (const std::int64_t version = schema_version(other); version != newest_version()) {
    throw InputError(fmt::format(
        "{}: is of version {} of the store, and only version {} is merged; to open it for writing "
        "brings it up to date",
        other.file(), version, newest_version()));
  }
}

}  // namespace

std::size_t merge(Database& database, const std::string& file, const StoreLimits& limits) {
  check_other(database, file);
  const bool immutable = only_immutable(file, limits);
  // Closed last, this one puts the log away, which the attached one may not do.
  Database connection(file, OpenMode::read, limits, immutable);
  check_same_version(connection);
  const Attached other(database, file_uri(file, immutable ? "immutable=1" : "mode=ro"));
  Transaction merging(database);
  database.run(std::string(kFresh) + std::string(kProvenanceOfRows));
  database.run(fmt::format(kRows, answer_columns()));
  database.run(std::string(kPartsOfRows) + std::string(kScenariosOfFile));
  const std::int64_t count = database.integer("SELECT count(*) FROM fresh");
  database.run("DROP TABLE fresh");
  merging.commit();
  return static_cast<std::size_t>(count);
}

}  // namespace strata
