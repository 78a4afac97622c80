#include "sim/store/query.h"

#include <string_view>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/store/query_views.h"
#include "sim/store/schema.h"

namespace strata {
namespace {

/// What SQLite asks while it prepares a statement; reading is allowed, all else is not.
int allow_reading(void* /*unused*/, int action, const char* /*first*/, const char* second,
                  const char* /*database*/, const char* /*from*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

/// While it lives, the connection prepares and runs nothing that does more than read.
class ReadingOnly {
 public:
  explicit ReadingOnly(Database& database) : handle_(database.handle()) {
    sqlite3_set_authorizer(handle_, allow_reading, nullptr);
  }
  ~ReadingOnly() { sqlite3_set_authorizer(handle_, nullptr, nullptr); }
  ReadingOnly(const ReadingOnly&) = delete;
  ReadingOnly& operator=(const ReadingOnly&) = delete;

 private:
  sqlite3* handle_;
};

constexpr std::string_view kAllowed = "; allowed: one statement that only reads";

[[noreturn]] void fail_query(std::string_view what) {
  throw InputError(fmt::format("query: {}{}", what, kAllowed));
}

std::size_t statements_in(Database& database, const std::string& sql) {
  std::size_t count = 0;
  for (const char *at = sql.c_str(), *end = at + sql.size(); at < end;) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(database.handle(), at, -1, &statement, &at);
    sqlite3_finalize(statement);
    database.check(code);
    if (statement != nullptr) ++count;
  }
  return count;
}

void check_statement(Database& database, const std::string& sql) {
  if (sql.find('\0') != std::string::npos) fail_query("it has a NUL character");
  const std::size_t count = statements_in(database, sql);
  if (count != 1) fail_query(count == 0 ? "there is no statement" : "there are several statements");
}

std::vector<std::vector<Field>> rows_of(Statement& statement) {
  std::vector<std::vector<Field>> rows;
  while (statement.step()) {
    std::vector<Field>& row = rows.emplace_back();
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.field(i));
  }
  return rows;
}

void prepare(Database& database, const std::string& scenario) {
  make_query_views(database, scenario);
  // On their first use SQLite makes these, which is more than reading.
  database.run("SELECT 1 FROM json_each('[]'), json_tree('[]')");
}

/// A statement's answer, without its rows where it is only to be checked.
QueryResult read_only(Database& database, const std::string& sql, bool checked_only) {
  const ReadingOnly guard(database);
  check_statement(database, sql);
  Statement statement(database, sql);
  if (!statement.changes_nothing()) fail_query("it writes");
  QueryResult result{statement.column_names(), {}};
  if (!checked_only) result.rows = rows_of(statement);
  return result;
}

QueryResult ask(Database& database, const std::string& sql, bool checked_only) {
  try {
    return read_only(database, sql, checked_only);
  } catch (const SqlError& error) {
    const bool denied = error.message().ends_with("not authorized");
    throw InputError(error.message() + (denied ? std::string(kAllowed)
                                               : what_there_is(database, sql, error.message())));
  }
}

}  // namespace

QueryResult query(Database& database, const std::string& sql, const std::string& scenario) {
  prepare(database, scenario);
  return ask(database, sql, false);
}

QueryCheck::QueryCheck() : empty_(Database::in_memory("query")) {
  make_schema(empty_);
  prepare(empty_, {});
}

std::vector<std::string> QueryCheck::columns(const std::string& sql) {
  return ask(empty_, sql, true).columns;
}

std::vector<std::string> scenarios(Database& database) {
  Statement all(
      database,
      "SELECT name FROM scenario GROUP BY name ORDER BY max(recorded) DESC, max(id) DESC");
  std::vector<std::string> names;
  while (all.step()) names.push_back(all.text(0));
  return names;
}

std::string scenario_text(Database& database, const std::string& name) {
  Statement find(database, "SELECT text FROM scenario WHERE id = ?");
  find.bind(find_scenario(database, name)).step();
  return find.text(0);
}

}  // namespace strata
