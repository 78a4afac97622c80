#include <cmath>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/store/case_key.h"
#include "sim/store/sqlite.h"

namespace strata {

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  const int size = static_cast<int>(sql.size());
  database_->check(sqlite3_prepare_v2(database_->handle(), sql.data(), size, &statement_, nullptr));
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  // The error's words have to be taken before the reset, which may have others.
  if (code != SQLITE_DONE) database_->fail(code);
  restart();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::restart() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

bool Statement::changes_nothing() const {
  return sqlite3_stmt_readonly(statement_) != 0;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_);
}

std::string Statement::column(int i) const {
  const char* name = sqlite3_column_name(statement_, i);
  return name == nullptr ? "" : name;
}

std::vector<std::string> Statement::column_names() const {
  std::vector<std::string> names(static_cast<std::size_t>(columns()));
  for (int i = 0; i < columns(); ++i) names[static_cast<std::size_t>(i)] = column(i);
  return names;
}

std::int64_t Statement::integer(int i) const {
  return sqlite3_column_int64(statement_, i);
}

std::string Statement::text(int i) const {
  // A text's size is known after its bytes were asked for.
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, i));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, i));
  return bytes == nullptr ? "" : std::string(bytes, size);
}

Field Statement::field(int i) const {
  switch (sqlite3_column_type(statement_, i)) {
    case SQLITE_INTEGER:
      return integer(i);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_, i);
    case SQLITE_TEXT:
      return text(i);
    case SQLITE_BLOB:
      return hex_digits(text(i));
    default:
      return std::monostate{};
  }
}

void Statement::put_null() {
  database_->check(sqlite3_bind_null(statement_, ++bound_));
}

void Statement::put_integer(std::int64_t value) {
  database_->check(sqlite3_bind_int64(statement_, ++bound_, value));
}

void Statement::put_number(double value) {
  if (std::isnan(value)) {
    throw InternalError(fmt::format("{}: a number to be stored is none", database_->file()));
  }
  database_->check(sqlite3_bind_double(statement_, ++bound_, value));
}

void Statement::put_text(std::string_view value) {
  // An empty view may point nowhere, which would be NULL.
  const char* bytes = value.empty() ? "" : value.data();
  database_->check(sqlite3_bind_text64(statement_, ++bound_, bytes, value.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8));
}

void Statement::put_key(CaseKey value) {
  const auto bytes = bytes_of(value);
  database_->check(
      sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

}  // namespace strata
