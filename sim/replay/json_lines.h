#pragma once

// A file or a text line by line, without holding more of it than the line at hand needs, or all of
// it at once; in both cases with the padding behind it that simdjson reads over. Views hold until
// the next call. Throws InputError where the file cannot be read.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace strata {

/// Bytes of a file or of a text, in order.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text), expected_(text.size()) {}
  explicit Source(const std::string& file) : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat facts {};
    if (fd_ < 0 || ::fstat(fd_, &facts) != 0) fail(file);
    if (S_ISREG(facts.st_mode)) expected_ = static_cast<std::size_t>(facts.st_size);
    if (!S_ISDIR(facts.st_mode)) return;
    errno = EISDIR;
    fail(file);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// How many bytes there will be, as far as is known at the start; a file may grow.
  std::size_t expected() const { return expected_; }

  /// 0 at the end.
  std::size_t read(char* to, std::size_t size, const std::string& file) {
    if (fd_ < 0) {
      const std::size_t n = text_.copy(to, size);
      text_.remove_prefix(n);
      return n;
    }
    for (;;) {
      const ssize_t n = ::read(fd_, to, size);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) fail(file);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& file) {
    const int error = errno;
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    throw InputError(fmt::format("{}: cannot be read: {}", file, std::strerror(error)));
  }

  std::string_view text_;
  std::size_t expected_ = SIZE_MAX;
  int fd_ = -1;
};

/// The lines of a source, each with the padding behind it that simdjson reads over.
class Lines {
 public:
  Lines(Source& source, const std::string& file) : source_(source), file_(file) {
    // The byte more is for the read that finds the end.
    const std::size_t chunk = std::min(source.expected(), kFirstChunk - 1) + 1;
    buffer_.resize(chunk + simdjson::SIMDJSON_PADDING);
  }

  int number() const { return number_; }

  /// The next line, without its end; none at the end.
  std::optional<simdjson::padded_string_view> next() {
    const std::size_t end = find_end();
    if (begin_ == filled_) return std::nullopt;
    const simdjson::padded_string_view line(buffer_.data() + begin_, end - begin_,
                                            buffer_.size() - begin_);
    begin_ = std::min(end + 1, filled_);
    ++number_;
    return line;
  }

  /// The first line, which stays to be read. Only before all others.
  std::string_view first() {
    const std::size_t end = find_end();
    return {buffer_.data(), end};
  }
  /// Everything that was not read yet.
  simdjson::padded_string_view rest() {
    while (fill()) {
    }
    return simdjson::padded_string_view(buffer_.data() + begin_, filled_ - begin_,
                                        buffer_.size() - begin_);
  }

 private:
  std::size_t find_end() {
    for (std::size_t from = begin_;;) {
      const void* end = std::memchr(buffer_.data() + from, '\n', filled_ - from);
      if (end != nullptr) {
        return static_cast<std::size_t>(static_cast<const char*>(end) - buffer_.data());
      }
      const std::size_t seen = filled_ - begin_;
      if (!fill()) return filled_;
      from = begin_ + seen;
    }
  }

  bool fill() {
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
    filled_ -= begin_;
    begin_ = 0;
    std::size_t room = buffer_.size() - simdjson::SIMDJSON_PADDING - filled_;
    if (room == 0) {
      if (buffer_.size() > kSizeLimit)
        throw InputError(fmt::format("{}: larger than 2 GiB", file_));
      buffer_.resize(2 * buffer_.size());
      room = buffer_.size() - simdjson::SIMDJSON_PADDING - filled_;
    }
    const std::size_t n = source_.read(buffer_.data() + filled_, room, file_);
    filled_ += n;
    return n > 0;
  }

  static constexpr std::size_t kFirstChunk = std::size_t{1} << 20;
  static constexpr std::size_t kSizeLimit = std::size_t{1} << 31;

  Source& source_;
  const std::string& file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, filled_ = 0;
  int number_ = 0;
};

}  // namespace strata
