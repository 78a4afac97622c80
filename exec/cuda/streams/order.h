#pragma once

// What is known of the order in which streams work. Work is put on streams one piece after another,
// by one thread; each piece has a ticket. A stream waits for another's piece only where it is not
// known to come after it already, by its own order or by what it waited for before: a vector clock
// for each stream (Fidge, 1988; Mattern, 1989).
//
// An event marks the end of a piece. Who puts work on streams marks the pieces that others will
// wait for; where somebody waits for one that is not marked, the next mark of its stream stands for
// it, and where there is none, all that is on the stream by then. Not thread-safe.

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

/// By stream: the pieces that it is known to come after. Without streams, so that waits can be
/// foreseen.
class VectorClocks {
 public:
  using Clock = std::vector<std::uint64_t>;  ///< by stream: the number of the last piece

  explicit VectorClocks(std::size_t streams) : clocks_(streams, Clock(streams)) {}

  bool knows(std::uint32_t stream, Ticket ticket) const {
    return clocks_[stream][ticket.stream] >= ticket.number;
  }
  const Clock& operator[](std::uint32_t stream) const { return clocks_[stream]; }
  /// The next piece is put on the stream.
  Ticket put(std::uint32_t stream) { return {stream, ++clocks_[stream][stream]}; }
  /// The stream has waited for a piece that had this clock.
  void join(std::uint32_t stream, const Clock& other);

 private:
  std::vector<Clock> clocks_;
};

class Order {
 public:
  /// The streams must outlive it; null for one that is not used.
  explicit Order(std::span<Stream* const> streams);

  /// The next piece on the stream comes after this one.
  void after(std::uint32_t stream, Ticket ticket);
  /// Whether what comes next on the stream is known to come after the piece.
  bool knows(std::uint32_t stream, Ticket ticket) const { return known_.knows(stream, ticket); }
  /// All that was put on the stream until now is a piece, which nobody is expected to wait for.
  Ticket put(std::uint32_t stream) { return known_.put(stream); }
  /// The same, and others will wait for it.
  Ticket mark(std::uint32_t stream);
  /// How often somebody waited for a piece that had no mark of its own.
  std::size_t marks_missed() const { return marks_missed_; }

  /// What comes next on the stream comes after all that was put on any stream until now.
  void gather(std::uint32_t stream);
  /// What comes next on any stream comes after all that was put on this one until now.
  void spread(std::uint32_t stream);

 private:
  /// A piece's end, with all that is known to come before it.
  struct Mark {
    Event event;
    std::uint64_t number = 0;
    VectorClocks::Clock clock;
  };
  /// The last ones of a stream, the k-th at k modulo kKept.
  struct MarkRing {
    std::vector<Mark> kept;
    std::uint64_t made = 0;
  };
  static constexpr std::uint64_t kKept = 4096;

  const Mark& mark_of(Ticket ticket);

  std::vector<Stream*> streams_;
  VectorClocks known_;
  std::vector<MarkRing> marks_;  // by stream
  std::size_t marks_missed_ = 0;
};

}  // namespace strata::cuda
