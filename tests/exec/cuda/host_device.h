#pragma once

// A host that stands for GPUs: memory of the host's, and streams whose work is done when somebody
// waits for it, in any order that streams and events allow, drawn anew each time. Work that forgot
// to wait for another stream's is sooner or later done too early, so a test that passes in many
// orders says something of the waits. Thread-safe, so that threads can stand for processes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "exec/cuda/device/device.h"

namespace strata::cuda::host {

/// Whether it is this one; false where the same tests run on GPUs, which draw no orders.
bool stands_for_gpus();
/// All that follows draws from this seed.
void draw_orders_from(std::uint64_t seed);
/// Whether copies read the host's pageable memory at their turn, as CUDA may, and not at once.
void read_pageable_late(bool late);
/// Whether memory may go while streams are recorded, as CUDA lets it; else it is an error.
void let_recorded_memory_go(bool may);
/// How many GPUs gpus() tells of: 0 or more.
void set_gpus(int count);
/// Whether devices can have multiprocessors of their own; how many groups of them are held now.
void set_green_contexts(bool there);
int green_contexts_alive();
/// What a driver refuses on streams of green contexts from now on, though it makes the contexts:
/// `later` is a kernel that fails when its turn comes.
enum class Refused : std::uint8_t { nothing, stream, kernel, later, event, recording };
void refuse_on_green(Refused what);
/// CUDA refuses a launch of the calling thread with this error, of which only take_last_error()
/// tells.
void refuse_launch(std::string error);
/// Bytes that each GPU has; what is taken now.
void set_memory(std::int64_t bytes);
std::int64_t memory_taken();
/// Events that a stream had to wait for, since the start.
std::size_t waits();
/// Events that were recorded on streams, since the start.
std::size_t events(EventKind kind);
/// The next so many events are waited for as they are recorded: streams go on while the host still
/// asks for work.
void run_ahead(std::size_t events);
/// Recordings that came to their end, since the start.
std::size_t recordings();

/// Loops of the one that are given memory of the other are refused with an InternalError from now
/// on, until join_all(); copies go between any two.
void keep_apart(int gpu, int other);
void join_all();

/// Work that is done once, when as many streams as are expected have come to it; none goes on
/// before.
struct Meeting {
  std::size_t expected = 0;
  std::function<void()> work;
  std::size_t came = 0;
};
/// The stream comes to it.
void meet(Stream& stream, std::shared_ptr<Meeting> meeting);

/// While one lives, one more thread may put work on streams: who finds nothing to do then waits for
/// it, and says that streams wait for one another only where all wait.
class Rank {
 public:
  Rank();
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
};
/// Where threads that stand for ranks wait for one another.
class Barrier {
 public:
  explicit Barrier(std::size_t count) : count_(count) {}
  /// Until all have come. Throws InternalError once somebody failed.
  void wait();
  void fail();

 private:
  std::size_t count_, came_ = 0, round_ = 0;
  bool failed_ = false;
};
/// The thread waits for others and puts no work on streams meanwhile.
class Asleep {
 public:
  Asleep();
  ~Asleep();
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;
};

}  // namespace strata::cuda::host
