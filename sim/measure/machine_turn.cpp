#include "sim/measure/machine_turn.h"

#include <chrono>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/cancel.h"

namespace strata {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(20);

// Two bytes of one file. Who waits for the turn holds the place behind it, so that one who has just
// given the turn back can't have it again before him.
constexpr off_t kTurn = 0, kNext = 1;

// Another user's file, or a link to one, is not taken for ours.
int open_lock(const std::string& folder) {
  const std::string file = fmt::format("{}/strata-measures-{}.lock", folder, ::getuid());
  return ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

struct flock one_byte(short type, off_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

// Of the open file, not of the process: threads and files of one process exclude each other, too,
// and nothing is lost where another of its files is closed.
bool try_lock(int file, off_t byte) {
  struct flock lock = one_byte(F_WRLCK, byte);
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

void unlock(int file, off_t byte) {
  struct flock lock = one_byte(F_UNLCK, byte);
  ::fcntl(file, F_OFD_SETLK, &lock);
}

// The kernel could wait, but not for two things: a lock, and that it is called off.
void wait_for(int file, off_t byte, const std::atomic<bool>* cancelled) {
  while (!try_lock(file, byte)) {
    throw_if_cancelled(cancelled);
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace

MachineTurn::MachineTurn(const std::atomic<bool>* cancelled, const std::string& folder)
    : file_(open_lock(folder)) {
  if (file_ < 0) return;
  try {
    wait_for(file_, kNext, cancelled);
    wait_for(file_, kTurn, cancelled);
    unlock(file_, kNext);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

MachineTurn::~MachineTurn() {
  if (file_ >= 0) ::close(file_);
}

bool MachineTurn::is_taken(const std::string& folder) {
  const int file = open_lock(folder);
  if (file < 0) return false;
  struct flock lock = one_byte(F_WRLCK, kTurn);
  const bool free = ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
  ::close(file);
  return !free;
}

}  // namespace strata
