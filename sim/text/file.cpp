#include "sim/text/file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void fail_read(const std::string& path, std::string_view why) {
  throw InputError(fmt::format("{}: cannot be read: {}", path, why));
}

[[noreturn]] void fail_write(const std::string& path, int error) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path, reason(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// The error of closing, which may be that of an earlier write; 0 if there is none.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_;
};

/// 0, or the error that stopped it.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The file that a chain of links ends at, even one that isn't there yet.
std::string follow_links(std::string path) {
  std::error_code error;
  for (int depth = 0; depth < 40 && std::filesystem::is_symlink(path, error); ++depth) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return path;
}

void write_directly(const std::string& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) fail_write(path, errno);
  int error = write_all(file.get(), content);
  if (error == 0) error = file.close();
  if (error != 0) fail_write(path, error);
}

/// What open() would give a new file, since mkostemp gives 0600.
mode_t mode_of_new_file() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

int fill_temporary(Descriptor& file, std::string_view content, mode_t mode) {
  if (const int error = write_all(file.get(), content)) return error;
  if (::fchmod(file.get(), mode) != 0) return errno;
  if (::fsync(file.get()) != 0) return errno;
  return file.close();
}

/// What stands at a name that is to be written.
struct Target {
  bool regular = true;  ///< a file, or nothing yet; else a device or a pipe
  mode_t mode = 0;
  std::string file;  ///< behind all links
};

/// `shown`: what an error calls it.
Target target_of(const std::string& path, const std::string& shown) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail_write(shown, errno);
  if (exists && S_ISDIR(status.st_mode)) fail_write(shown, EISDIR);
  const mode_t mode = exists ? status.st_mode & 07777 : mode_of_new_file();
  return {!exists || S_ISREG(status.st_mode), mode, follow_links(path)};
}

/// In the target's folder; `temporary` becomes its name, which begins as the target's, as far as
/// the longest name of a file leaves room.
Descriptor make_temporary(const std::string& path, const Target& target, std::string& temporary) {
  constexpr std::string_view kEnd = ".XXXXXX";
  const std::filesystem::path file = target.file;
  const std::string begin = file.filename().string().substr(0, NAME_MAX - kEnd.size());
  temporary = (file.parent_path() / begin).string() + std::string(kEnd);
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) fail_write(path, errno);
  return Descriptor(fd);
}

void replace_file(const std::string& path, const Target& target, std::string_view content) {
  std::string temporary;
  Descriptor file = make_temporary(path, target, temporary);
  int error = fill_temporary(file, content, target.mode);
  if (error == 0 && ::rename(temporary.c_str(), target.file.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail_write(path, error);
}

}  // namespace

std::string read_file(const std::string& path, std::int64_t size_limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) fail_read(path, reason(errno));
  if (S_ISDIR(status.st_mode)) fail_read(path, reason(EISDIR));
  std::string text;
  const std::size_t limit = static_cast<std::size_t>(size_limit);
  std::size_t size = 0;
  while (true) {  // not by st_size: a pipe has none, and a file may grow
    const auto expected = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) + 1;
    text.resize(std::min(std::max(expected, size + 65536), limit + 1));
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_read(path, reason(errno));
    size += static_cast<std::size_t>(got);
    if (size > limit) fail_read(path, fmt::format("it is larger than {} bytes", size_limit));
    if (got == 0) break;
  }
  text.resize(size);
  return text;
}

void write_file_whole(const std::string& path, std::string_view content, const std::string& shown) {
  const std::string& said = shown.empty() ? path : shown;
  const Target target = target_of(path, said);
  if (!target.regular) return write_directly(path, content);
  replace_file(said, target, content);
}

std::string file_behind(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(follow_links(path), error);
  if (error) return path;
  const std::filesystem::path plain = std::filesystem::weakly_canonical(file, error);
  return error ? path : plain.string();
}

std::string name_from_file(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  if (is_utf8(name)) return name;
  throw InputError(
      fmt::format("{}: what is in it has no name but the file's, which is not UTF-8; allowed: a "
                  "file whose name is, or a name in it",
                  path));
}

void check_can_write(const std::string& path) {
  const Target target = target_of(path, path);
  if (!target.regular) {
    if (::access(path.c_str(), W_OK) != 0) fail_write(path, errno);
    return;
  }
  std::string temporary;
  const Descriptor file = make_temporary(path, target, temporary);
  ::unlink(temporary.c_str());
}

}  // namespace strata
