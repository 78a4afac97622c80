#include "sim/store/open_store.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/store/schema.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_environment(const std::string& file, std::string_view what, int error) {
  throw EnvironmentError(
      fmt::format("{}: {}: {}", file, what, std::generic_category().message(error)));
}

void remove_database(const std::string& file) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((file + suffix).c_str());
}

/// 0, or why no file can be made beside this one.
int folder_error(const std::string& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

bool has_log(const std::string& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file + "-wal", error);
  return !error && size > 0;
}

/// Fills a draft beside the file and gives it the file's name, unless that is taken; so that nobody
/// sees half of it, and nothing is ever replaced. False if it was taken.
bool make_file(const std::string& file, const std::function<void(Database&)>& fill) {
  // SQLite would name neither the file that is wanted nor the reason.
  if (const int reason = folder_error(file)) fail_environment(file, "cannot be made", reason);
  // No two threads of a host have this name at once; what a killed one left is ours to remove.
  const std::string draft = fmt::format("{}.new-{}", file, ::gettid());
  remove_database(draft);
  try {
    Database database(draft, OpenMode::create, StoreLimits{});
    fill(database);
    // What closing would do, but would not say that it could not.
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (...) {
    remove_database(draft);
    throw;
  }
  const int error = ::link(draft.c_str(), file.c_str()) == 0 ? 0 : errno;
  remove_database(draft);
  if (error != 0 && error != EEXIST) fail_environment(file, "cannot be made", error);
  return error == 0;
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
  if (schema_version(database) == kSchemaVersion) return;
  Transaction change(database);
  // Another process may have done it while this one waited for the lock.
  if (schema_version(database) == kSchemaVersion) return;
  back_up(database, limits);
  migrate(database);
  change.commit();
}

Database open_to_write(const std::string& file, const StoreLimits& limits) {
  Database database(file, OpenMode::write, limits);
  if (database.read_only()) fail_environment(file, "cannot be written", EACCES);
  check_version(database);
  database.run("PRAGMA journal_mode = WAL");  // which a copy made by VACUUM INTO has not
  bring_up_to_date(database, limits);
  return database;
}

Database open_to_read(const std::string& file, const StoreLimits& limits) {
  Database database(file, OpenMode::read, limits, only_immutable(file, limits));
  check_version(database);
  if (schema_version(database) == kSchemaVersion) return database;
  Database copy = Database::in_memory(file);
  database.copy_to(copy);
  migrate(copy);
  return copy;
}

// Without its log a file that was killed, or found no space, while the log was put away looks
// damaged; then it has to be opened with it.
std::int64_t application_of(const std::string& file) {
  constexpr std::string_view kQuestion = "PRAGMA application_id";
  try {
    return Database(file, OpenMode::read, StoreLimits{}, true).integer(kQuestion);
  } catch (const EnvironmentError&) {
    if (!has_log(file)) throw;
    return Database(file, OpenMode::read, StoreLimits{}).integer(kQuestion);
  }
}

}  // namespace

void check_identity(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error) throw InputError(fmt::format("{}: cannot be read: {}", file, error.message()));
  if (!fs::is_regular_file(status)) {
    throw InputError(fmt::format("{}: cannot be read: it is no regular file", file));
  }
  // By SQLite, not by a stream: closing any descriptor of the file would drop the locks of this
  // process's other connections. Immutable: neither a log nor a lock is touched. The application's
  // number is in the file from its first moment on.
  if (application_of(file) == kApplicationId) return;
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
  std::error_code error;
  const bool missing = fs::status(file, error).type() == fs::file_type::not_found;
  if (mode == OpenMode::create && missing) make_file(file, make_schema);
  check_identity(file);
  return mode == OpenMode::read ? open_to_read(file, limits) : open_to_write(file, limits);
}

}  // namespace strata
