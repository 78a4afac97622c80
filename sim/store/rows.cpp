#include "sim/store/rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include "sim/store/schema.h"

namespace strata {
namespace {

/// The id that a statement with RETURNING or a SELECT gives.
std::int64_t id_of(Statement& statement) {
  if (!statement.step()) throw InternalError("a row that was just stored is not there");
  const std::int64_t id = statement.integer(0);
  statement.restart();
  return id;
}

std::int64_t insert_row(Database& database, const StoredResult& result, std::int64_t invocation) {
  std::string places;
  for (std::size_t i = 0; i < columns().size(); ++i) places += ", ?";
  Statement insert(database, fmt::format("INSERT INTO result (key, invocation, {}) "
                                         "VALUES (?, ?{}) RETURNING id",
                                         answer_columns(), places));
  insert.bind(result.key, invocation);
  for (const ColumnSpec& column : columns()) insert.bind(field_of(column, result));
  return id_of(insert);
}

std::int64_t add_input(Database& database, const StoredInput& input) {
  Statement(database,
            "INSERT INTO input (hash, kind, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(input.hash, input.kind, input.name)
      .run();
  Statement find(database, "SELECT id FROM input WHERE hash = ? AND kind = ? AND name = ?");
  return id_of(find.bind(input.hash, input.kind, input.name));
}

void add_inputs(Database& database, std::int64_t result, std::span<const StoredInput> inputs) {
  Statement insert(database, "INSERT INTO result_input (result, ordinal, input) VALUES (?, ?, ?)");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    insert.bind(result, i, add_input(database, inputs[i])).run();
  }
}

void add_layers(Database& database, std::int64_t result, std::span<const StoredLayer> layers) {
  Statement insert(database,
                   "INSERT INTO layer (result, ordinal, name, n, c, d, h, w, r, scatter, "
                   "compute_seconds, transfer_seconds, sync_seconds) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const StoredLayer& l = layers[i];
    insert.bind(result, i, l.name, l.n, l.c, l.d, l.h, l.w, l.r, l.scatter)
        .bind(l.compute_seconds, l.transfer_seconds, l.sync_seconds)
        .run();
  }
}

}  // namespace

std::int64_t add_invocation(Database& database, const Invocation& invocation) {
  const std::int64_t pid = ::getpid();
  const auto bind_all = [&](Statement& statement) -> Statement& {
    return statement.bind(invocation.host, pid, invocation.started, invocation.command,
                          invocation.version);
  };
  Statement insert(database,
                   "INSERT INTO invocation (host, pid, started, command, version) "
                   "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  bind_all(insert).run();
  Statement find(database,
                 "SELECT id FROM invocation WHERE host = ? AND pid = ? AND started = ? "
                 "AND command = ? AND version = ?");
  return id_of(bind_all(find));
}

bool has_row(Database& database, CaseKey key) {
  Statement row(database, "SELECT 1 FROM result WHERE key = ?");
  return row.bind(key).step();
}

void drop_claim(Database& database, CaseKey key) {
  Statement(database, "DELETE FROM claim WHERE key = ?").bind(key).run();
}

void add_result(Database& database, const StoredResult& result, std::int64_t invocation) {
  const std::int64_t id = insert_row(database, result, invocation);
  add_inputs(database, id, result.inputs);
  add_layers(database, id, result.layers);
}

void replace_scenario(Database& database, const std::string& name, const std::string& file,
                      const std::string& text, std::span<const Store::ScenarioCase> cases) {
  Statement(database, "DELETE FROM scenario WHERE name = ?").bind(name).run();
  Statement insert(database,
                   "INSERT INTO scenario (name, file, text, hash) VALUES (?, ?, ?, ?) "
                   "RETURNING id");
  const std::int64_t scenario = id_of(insert.bind(name, file, text, hash_of(text)));
  Statement add(database,
                "INSERT INTO scenario_case (scenario, ordinal, sweep, key) VALUES (?, ?, ?, ?)");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    add.bind(scenario, i, cases[i].sweep, cases[i].key).run();
  }
}

}  // namespace strata
