#pragma once

// A process of our own that can be killed, and a pipe to hear from it. No Store may be open where
// one is started: a Store is never carried over a fork().

#include <csignal>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata {

class Pipe {
 public:
  Pipe() { opened_ = ::pipe(ends_) == 0; }
  ~Pipe() { close(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool write(std::string_view bytes) const {
    return opened_ && ::write(ends_[1], bytes.data(), bytes.size()) == std::ssize(bytes);
  }
  /// Waits for that many, or the end.
  std::string read(std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t got = 0;
    while (opened_ && got < size) {
      const ssize_t more = ::read(ends_[0], bytes.data() + got, size - got);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    bytes.resize(got);
    return bytes;
  }
  void close() {
    for (int& end : ends_) {
      if (end >= 0) ::close(std::exchange(end, -1));
    }
  }
  /// From now on only others write, so that reading ends when the last of them does.
  void only_read() { ::close(std::exchange(ends_[1], -1)); }
  /// To that end.
  std::string read_rest() const {
    std::string rest;
    for (std::string byte; !(byte = read(1)).empty();) rest += byte;
    return rest;
  }

 private:
  int ends_[2] = {-1, -1};
  bool opened_ = false;
};

class Child {
 public:
  template <class Work>
  explicit Child(Work&& work) : pid_(::fork()) {
    if (pid_ != 0) return;
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  ~Child() {
    if (pid_ > 0) kill();
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  /// To its end; its exit code.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// It is dead afterwards, but its remains stay until wait().
  void kill_and_leave() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void kill() {
    kill_and_leave();
    wait();
  }

 private:
  pid_t pid_;
};

}  // namespace strata
