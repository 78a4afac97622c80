#include "sim/text/folder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_folder(const std::string& folder, const std::error_code& error) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", folder, error.message()));
}

std::error_code last_error() {
  return {errno, std::generic_category()};
}

std::string folder_of(const char* variable) {
  const char* folder = std::getenv(variable);
  return folder != nullptr && folder[0] == '/' ? folder : "";
}

// Without links, dots and a slash at its end, so that another name can stand beside it.
fs::path target_of_folder(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (error) fail_folder(folder, error);
  return path.has_filename() ? path : path.parent_path();
}

/// Whether an empty folder has the name, or nothing has.
bool is_there(const std::string& folder, const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) fail_folder(folder, error);
  if (!fs::is_directory(status))
    fail_folder(folder, std::make_error_code(std::errc::not_a_directory));
  const bool empty = fs::is_empty(target, error);
  if (error) fail_folder(folder, error);
  if (empty) return true;
  throw InputError(
      fmt::format("{}: is there and not empty; allowed: a new folder or an empty one", folder));
}

/// A folder beside the target, or within it where it is there. It is gone unless it was given the
/// target's name.
class TemporaryFolder {
 public:
  TemporaryFolder(const std::string& folder, const fs::path& target, bool within)
      : folder_(folder), path_((within ? target / "new" : target).string() + ".XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) fail_folder(folder, last_error());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code none;
    if (!named_) fs::remove_all(path_, none);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void take_name(const fs::path& target) {
    const ::mode_t mask = ::umask(0);
    ::umask(mask);
    if (::chmod(path_.c_str(), 0777 & ~mask) != 0) fail_folder(folder_, last_error());
    if (std::rename(path_.c_str(), target.c_str()) != 0) fail_folder(folder_, last_error());
    named_ = true;
  }

 private:
  const std::string& folder_;
  std::string path_;
  bool named_ = false;
};

/// The folder stays the one that it is: someone may work in it, and its mode, its owner or a mount
/// be chosen. Any file that cannot have its name takes those before it along.
void move_into(const std::string& folder, const fs::path& target, const TemporaryFolder& temporary,
               const std::vector<NamedContent>& files) {
  for (auto file = files.begin(); file != files.end(); ++file) {
    const fs::path moved = target / file->first;
    if (std::rename(temporary.file(file->first).c_str(), moved.c_str()) == 0) continue;
    const std::error_code error = last_error();
    std::error_code none;
    for (auto before = files.begin(); before != file; ++before)
      fs::remove(target / before->first, none);
    fail_folder(folder, error);
  }
}

void fill(const TemporaryFolder& temporary, const std::string& folder,
          const std::vector<NamedContent>& files) {
  for (const auto& [name, content] : files) {
    write_file_whole(temporary.file(name), content, folder + "/" + name);
  }
}

}  // namespace

std::string cache_folder() {
  std::string folder = folder_of("XDG_CACHE_HOME");
  if (folder.empty() && !folder_of("HOME").empty()) folder = folder_of("HOME") + "/.cache";
  return folder.empty() ? "" : folder + "/strata";
}

void write_folder_whole(const std::string& folder, const std::vector<NamedContent>& files) {
  const fs::path target = target_of_folder(folder);
  const bool there = is_there(folder, target);
  TemporaryFolder temporary(folder, target, there);
  fill(temporary, folder, files);
  there ? move_into(folder, target, temporary, files) : temporary.take_name(target);
}

void write_into_folder(const std::string& folder, const std::vector<NamedContent>& files) {
  const fs::path target = target_of_folder(folder);
  std::error_code none;
  for (const auto& [name, content] : files) {
    if (!fs::is_directory(target / name, none)) continue;
    fail_folder(folder + "/" + name, std::make_error_code(std::errc::is_a_directory));
  }
  const TemporaryFolder temporary(folder, target, true);
  fill(temporary, folder, files);
  for (const auto& [name, content] : files) {
    const fs::path named = target / name;
    if (std::rename(temporary.file(name).c_str(), named.c_str()) != 0) {
      fail_folder(folder + "/" + name, last_error());
    }
  }
}

void check_can_write_folder(const std::string& folder) {
  const fs::path target = target_of_folder(folder);
  const TemporaryFolder temporary(folder, target, is_there(folder, target));
}

}  // namespace strata
