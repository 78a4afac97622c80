#include "sim/store/open_store.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/store/draft.h"
#include "sim/store/schema.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

// Of either kind: a store's own, or the journal of one that is just being made of an empty file.
bool has_log(const std::string& file) {
  std::error_code error;
  for (const char* suffix : {"-wal", "-journal"}) {
    const std::uintmax_t size = fs::file_size(file + suffix, error);
    if (!error && size > 0) return true;
  }
  return false;
}

void make_whole(Database& database) {
  Transaction making(database);
  make_schema(database);
  making.commit();
  database.run("PRAGMA journal_mode = WAL");
}

// An empty file is a database without tables to SQLite, and may have been made to be a store's. It
// is filled in place: whoever has it open sees the store. Several may try; the first one does it.
void fill_empty(const std::string& file, const StoreLimits& limits) {
  Database database(file, OpenMode::write, limits);
  if (database.read_only()) fail_environment(file, "cannot be written", EACCES);
  Transaction making(database);
  if (database.integer("SELECT count(*) FROM sqlite_schema") == 0) make_schema(database);
  making.commit();
}

/// To FILE.v1.bak, or the first of FILE.v1.bak-2, -3, ... that is free.
void back_up(Database& database, const StoreLimits& limits) {
  const std::string name = fmt::format("{}.v{}.bak", database.file(), schema_version(database));
  // Another connection sees what was committed, while this one keeps everybody else from writing.
  Database source(database.file(), OpenMode::read, limits);
  const auto copy = [&](Database& target) { source.copy_to(target); };
  for (int i = 1; !make_file(i == 1 ? name : fmt::format("{}-{}", name, i), copy); ++i) {
  }
}

void bring_up_to_date(Database& database, const StoreLimits& limits) {
  if (schema_version(database) == newest_version()) return;
  Transaction change(database);
  // Another process may have done it while this one waited for the lock.
  if (schema_version(database) == newest_version()) return;
  back_up(database, limits);
  migrate(database);
  change.commit();
}

// Where there is none yet.
void make_store(const std::string& file, const StoreLimits& limits) {
  std::error_code error;
  const fs::file_type type = fs::status(file, error).type();
  if (type == fs::file_type::not_found) {
    make_file(file, make_whole);
  } else if (type == fs::file_type::regular && fs::file_size(file, error) == 0 && !error) {
    fill_empty(file, limits);
  }
}

// A copy made by VACUUM INTO has no log yet, nor has an empty file that was filled. SQLite does not
// wait where several switch at once, each with a lock that the other one needs.
void switch_to_log(Database& database, const StoreLimits& limits) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(limits.busy_milliseconds);
  for (;;) {
    try {
      return database.run("PRAGMA journal_mode = WAL");
    } catch (const BusyError&) {
      if (std::chrono::steady_clock::now() >= until) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

Database open_to_write(const std::string& file, const StoreLimits& limits) {
  Database database(file, OpenMode::write, limits);
  if (database.read_only()) fail_environment(file, "cannot be written", EACCES);
  check_version(database);
  switch_to_log(database, limits);
  bring_up_to_date(database, limits);
  return database;
}

Database open_to_read(const std::string& file, const StoreLimits& limits) {
  Database database(file, OpenMode::read, limits, only_immutable(file, limits));
  check_version(database);
  if (schema_version(database) == newest_version()) return database;
  Database copy = Database::in_memory(file);
  database.copy_to(copy);
  migrate(copy);
  return copy;
}

std::int64_t application_of(const std::string& file, bool immutable) {
  return Database(file, OpenMode::read, StoreLimits{}, immutable).integer("PRAGMA application_id");
}

// Without its log a file that was killed, or found no space, while the log was put away looks
// damaged; then it has to be opened with it. Where the log has just gone, the file is whole.
bool is_strata(const std::string& file) {
  try {
    if (application_of(file, true) == kApplicationId) return true;
  } catch (const EnvironmentError&) {
    return application_of(file, !has_log(file)) == kApplicationId;
  }
  return has_log(file) && application_of(file, false) == kApplicationId;
}

}  // namespace

void check_identity(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error == std::errc::too_many_symbolic_link_levels) {
    fail_environment(file, "cannot be read", error.value());
  }
  if (error) throw InputError(fmt::format("{}: cannot be read: {}", file, error.message()));
  if (!fs::is_regular_file(status)) {
    throw InputError(fmt::format("{}: cannot be read: it is no regular file", file));
  }
  // By SQLite, not by a stream: closing any descriptor of the file would drop the locks of this
  // process's other connections. Immutable: neither a log nor a lock is touched. The application's
  // number is in the file from its first moment on.
  if (is_strata(file)) return;
  throw InputError(fmt::format("{}: is no database of Strata's; it is left as it is", file));
}

bool only_immutable(const std::string& file, const StoreLimits& limits) {
  try {
    Database database(file, OpenMode::read, limits);
    schema_version(database);
    return false;
  } catch (const EnvironmentError&) {
    const bool readable = ::access(file.c_str(), R_OK) == 0;
    if (!readable || folder_error(file) == 0 || has_log(file)) throw;
    return true;
  }
}

Database open_store(const std::string& file, OpenMode mode, const StoreLimits& limits) {
  if (mode == OpenMode::create) make_store(file, limits);
  check_identity(file);
  return mode == OpenMode::read ? open_to_read(file, limits) : open_to_write(file, limits);
}

}  // namespace strata
