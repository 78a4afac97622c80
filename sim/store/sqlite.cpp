#include "sim/store/sqlite.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/base/cancel.h"

namespace strata {
namespace {

int flags_of(OpenMode mode, bool immutable) {
  constexpr int kAlways = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (immutable) return kAlways | SQLITE_OPEN_READONLY;
  const int create = mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0;
  return kAlways | SQLITE_OPEN_READWRITE | create;
}

/// What the codes of the environment mean; nullptr for the others.
const char* meaning_of(int primary) {
  switch (primary) {
    case SQLITE_FULL:
      return "no space is left";
    case SQLITE_READONLY:
      return "cannot be written";
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "cannot be opened";
    case SQLITE_IOERR:
      return "reading or writing failed";
    case SQLITE_CORRUPT:
      return "is damaged";
    case SQLITE_PROTOCOL:
      return "cannot be locked";
    case SQLITE_NOLFS:
      return "is too large for this system";
    case SQLITE_NOMEM:
      return "memory ran out";
    default:
      return nullptr;
  }
}

/// What SQLite says of its last error, and the system's reason where it had one.
std::string words_of(sqlite3* handle) {
  std::string words = sqlite3_errmsg(handle);
  const int error = sqlite3_system_errno(handle);
  if (error == 0) return words;
  return fmt::format("{}: {}", words, std::generic_category().message(error));
}

}  // namespace

std::string file_uri(const std::string& file, std::string_view parameters) {
  // An absolute path after an empty host: ":memory:" and "//a" are names of files like any other.
  std::string uri = "file://";
  for (char c : std::filesystem::absolute(file).string()) {
    const bool special = c == '%' || c == '?' || c == '#';
    uri += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return parameters.empty() ? uri : fmt::format("{}?{}", uri, parameters);
}

Database::Database(const std::string& file, OpenMode mode, const StoreLimits& limits,
                   bool immutable)
    : Database(file, file_uri(file, immutable ? "immutable=1" : ""), flags_of(mode, immutable),
               limits) {}

Database Database::create(const std::string& path, const std::string& name) {
  return {name, file_uri(path, ""), flags_of(OpenMode::create, false), StoreLimits{}};
}

Database Database::in_memory(const std::string& name) {
  return {name, ":memory:", flags_of(OpenMode::create, false), StoreLimits{}};
}

Database::Database(const std::string& name, const std::string& uri, int flags,
                   const StoreLimits& limits)
    : file_(name) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &opened, flags, nullptr);
  handle_.reset(opened);  // even one that failed has to be closed, and says why it failed
  check(code);
  check(sqlite3_busy_timeout(handle(), limits.busy_milliseconds));
  run("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;");
  if (limits.pages > 0) run(fmt::format("PRAGMA max_page_count = {}", limits.pages));
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

void Database::stop_when(const std::atomic<bool>* cancelled) {
  constexpr int kLookEvery = 10'000;  // of SQLite's instructions, some microseconds each hundred
  const auto look = [](void* flag) {
    return is_set(static_cast<const std::atomic<bool>*>(flag)) ? 1 : 0;
  };
  sqlite3_progress_handler(handle(), kLookEvery, cancelled != nullptr ? +look : nullptr,
                           const_cast<std::atomic<bool>*>(cancelled));
}

bool Database::read_only() const {
  return sqlite3_db_readonly(handle(), "main") != 0;
}

void Database::run(const std::string& sql) {
  check(sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr));
}

std::int64_t Database::integer(std::string_view sql) {
  Statement statement(*this, sql);
  if (!statement.step()) throw InternalError(fmt::format("{}: no answer to {}", file_, sql));
  return statement.integer(0);
}

void Database::copy_to(Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle(), "main", handle(), "main");
  if (backup == nullptr) target.fail(sqlite3_extended_errcode(target.handle()));
  constexpr int kAllPages = -1;
  const int code = sqlite3_backup_step(backup, kAllPages);
  target.check(sqlite3_backup_finish(backup));
  target.check(code);  // finish() does not count a lock that was waited for in vain
}

void Database::check(int code) const {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
}

void Database::fail(int code) const {
  const int primary = code & 0xff;
  if (primary == SQLITE_INTERRUPT) throw Cancelled{};
  const std::string words = words_of(handle());
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) {
    throw BusyError(fmt::format("{}: another process keeps it locked ({})", file_, words));
  }
  if (primary == SQLITE_NOTADB) {
    throw InputError(fmt::format("{}: is no database of Strata's ({})", file_, words));
  }
  if (const char* meaning = meaning_of(primary)) {
    throw EnvironmentError(fmt::format("{}: {} ({})", file_, meaning, words));
  }
  throw SqlError(fmt::format("{}: {}", file_, words));
}

Transaction::~Transaction() {
  // Committed, or rolled back by SQLite itself: then there is nothing left to undo. Where undoing
  // fails, closing the connection undoes it.
  sqlite3* handle = database_.handle();
  if (sqlite3_get_autocommit(handle) == 0) {
    sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

}  // namespace strata
