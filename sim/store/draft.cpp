#include "sim/store/draft.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace strata {
namespace {

void remove_database(const std::string& file) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((file + suffix).c_str());
}

// A name may be anything to the system, and a file's may have no slash.
std::string host_name() {
  std::array<char, 65> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  std::string host = name.data();
  std::replace(host.begin(), host.end(), '/', '_');
  return host;
}

std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace

std::string draft_name(const std::string& file) {
  return fmt::format("{}.new-{}-{}-{:016x}", file, host_name(), ::getpid(), random_number());
}

bool make_file(const std::string& file, const std::function<void(Database&)>& fill) {
  // SQLite would name neither the file that is wanted nor the reason.
  if (const int reason = folder_error(file)) fail_environment(file, "cannot be made", reason);
  const std::string draft = draft_name(file);
  try {
    Database database = Database::create(draft, file);
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

int folder_error(const std::string& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

void fail_environment(const std::string& file, std::string_view what, int error) {
  throw EnvironmentError(
      fmt::format("{}: {}: {}", file, what, std::generic_category().message(error)));
}

}  // namespace strata
