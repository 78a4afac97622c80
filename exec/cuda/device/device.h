#pragma once

// The little of a GPU that everything here stands on: memory, streams, events. Two bodies are
// linked to it: CUDA's runtime (device.cpp), and for tests without a GPU a host that keeps only the
// promises made here, running what streams hold in any order that their events allow
// (tests/exec/cuda/host_device.cpp). GPUs are numbered as CUDA numbers them.
//
// Everything takes place later, in its stream's order, unless it says otherwise. What fails later
// is thrown by finish(). Throws EnvironmentError with the library's own words.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/cuda/device/gpu_part.h"
#include "sim/base/units.h"

namespace strata::cuda {

/// A GPU as its driver describes it.
struct Gpu {
  std::string name;             ///< "NVIDIA H200"
  int compute_capability = 0;   ///< 90
  int multiprocessors = 0;      ///< 132
  std::int64_t memory = 0;      ///< bytes
  std::int64_t cache = 0;       ///< bytes of L2
  int driver = 0, runtime = 0;  ///< versions: 13000
};

/// Of this machine. Throws EnvironmentError where there is no driver or no GPU, with the reason.
std::vector<Gpu> gpus();

/// Whether work of one GPU can read and write the other's memory by its address, once access was
/// opened between them. Copies go between any two.
bool can_reach(int gpu, int other);
/// Between those of the GPUs where it can be.
void open_access(std::span<const int> gpus);

/// The host's clock.
Seconds now();

/// Of the calling thread's last call that was refused: else the next launch would be told of it.
void forget_last_error();
/// The same, and what it was; empty where none was refused. For libraries that do not say so.
std::string take_last_error();
/// The calling thread's.
int gpu_in_use();

class Event;

/// A queue of work for one GPU. Not thread-safe.
class Stream {
 public:
  explicit Stream(int gpu);
  /// Its kernels use the part's multiprocessors, which it keeps.
  explicit Stream(const GpuPart& part);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int gpu() const { return gpu_; }
  /// What comes next on this stream comes after what the event recorded last.
  void wait(const Event& event);
  /// The caller waits for all of it.
  void finish();
  /// Whether nothing is left to do.
  bool is_done();
  /// CUDA's own: a cudaStream_t.
  void* handle() const { return handle_; }

 private:
  int gpu_;
  std::shared_ptr<void> green_;  // outlives the stream, as CUDA wants it
  void* handle_ = nullptr;
};

enum class EventKind : std::uint8_t {
  order,  ///< only waited for: cheaper
  time    ///< and its time is read
};

/// A point in a stream's work.
class Event {
 public:
  Event(int gpu, EventKind kind);
  ~Event();
  Event(Event&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Event& operator=(Event&&) = delete;

  void record(Stream& stream);
  /// On a stream that is recorded (recording.h): each playing records it, so that its time can be
  /// read. Nobody waits for it there.
  void record_when_played(Stream& stream);
  /// The caller waits until it is past.
  void finish();
  /// From that event to this one; both are past.
  Seconds since(const Event& earlier) const;

 private:
  friend class Stream;
  void* handle_ = nullptr;
};

/// A GPU's memory, at once; null where it has no more. release() waits for the GPU.
void* allocate(int gpu, std::int64_t bytes);
void release(int gpu, void* memory);
/// Bytes of it that no process has; nothing where CUDA does not tell.
std::optional<std::int64_t> free_memory(int gpu);

/// The host's memory that GPUs read and write under the same address, at once. Zeroed; pinned.
std::shared_ptr<void> host_memory(std::int64_t bytes);

/// Between any two memories, the host's among them. What lies in the host's must stay as it is
/// until the copy is done. Pageable memory has been read when the call returns wherever that was
/// looked at, but CUDA only says that it may be: what the caller does not keep is copied from
/// pinned memory (pinned_ring.h).
void copy(void* to, const void* from, std::int64_t bytes, Stream& stream);
/// All bytes zero.
void clear(void* to, std::int64_t bytes, Stream& stream);

}  // namespace strata::cuda
