#pragma once

// Whose turn it is to measure on this machine. Two processes that measure at once disturb each
// other; so each takes its turn before and gives it back behind, one case long. Among all processes
// of a user on one machine, whatever their databases, as long as they see the same folder; a
// process that dies gives its turn back. Belongs to one thread.

#include <atomic>
#include <optional>
#include <string>
#include <utility>

namespace strata {

class MachineTurn {
 public:
  /// Whose folder all processes of a machine see, whatever their environment.
  static constexpr const char* kFolder = "/tmp";

  /// Waits until nobody measures and nobody came before. Throws Cancelled. Where the folder takes
  /// no lock, there is nothing to wait for.
  explicit MachineTurn(const std::atomic<bool>* cancelled = nullptr,
                       const std::string& folder = kFolder);
  ~MachineTurn();
  MachineTurn(MachineTurn&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  MachineTurn& operator=(MachineTurn&&) = delete;

  /// Whether someone, this process included, has the turn now.
  static bool is_taken(const std::string& folder = kFolder);

 private:
  int file_ = -1;
};

}  // namespace strata
