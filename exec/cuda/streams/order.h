#pragma once

// What is known of the order in which streams work. Work is put on streams one piece after another,
// by one thread; each piece has a ticket. A stream waits for another's piece only where it is not
// known to come after it already, by its own order or by what it waited for before: a vector clock
// for each stream (Fidge, 1988; Mattern, 1989). Not thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "exec/cuda/device/device.h"

namespace strata::cuda {

/// The `number`-th piece of work of a stream, from 1; 0 for none.
struct Ticket {
  std::uint32_t stream = 0;
  std::uint64_t number = 0;
  bool operator==(const Ticket&) const = default;
};

class Order {
 public:
  /// The streams must outlive it; null for one that is not used.
  explicit Order(std::span<Stream* const> streams);

  /// The next piece on the stream comes after this one.
  void after(std::uint32_t stream, Ticket ticket);
  /// Whether what comes next on the stream is known to come after the piece.
  bool knows(std::uint32_t stream, Ticket ticket) const {
    return clocks_[stream][ticket.stream] >= ticket.number;
  }
  /// All that was put on the stream until now is a piece.
  Ticket mark(std::uint32_t stream);

  /// What comes next on the stream comes after all that was put on any stream until now.
  void gather(std::uint32_t stream);
  /// What comes next on any stream comes after all that was put on this one until now.
  void spread(std::uint32_t stream);

 private:
  /// A piece's end, with all that is known to come before it.
  struct Mark {
    Event event;
    std::vector<std::uint64_t> clock;
  };
  static constexpr std::uint64_t kKept = 4096;

  std::vector<Stream*> streams_;
  std::vector<std::vector<std::uint64_t>> clocks_;  // by stream: of each stream, the last known
  std::vector<std::vector<Mark>> marks_;            // by stream, then ticket modulo kKept
};

}  // namespace strata::cuda
