#pragma once

// What the host tells a stream while it is steps ahead of it: slots of pinned memory in a ring,
// each taken again once the copy from it is done. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/cuda/device/device.h"

namespace strata::cuda {

class PinnedRing {
 public:
  static constexpr std::size_t kSlots = 32;

  explicit PinnedRing(int gpu) : gpu_(gpu) {}

  /// Of at least so many bytes; nobody reads what is in it. The caller waits for the oldest copy
  /// where all slots are taken, and for all copies where larger slots are needed.
  std::byte* next(std::int64_t bytes);
  /// The slot is taken until all is done that was put on the stream until now.
  void take(Stream& stream);

 private:
  struct Slot {
    Event read;
    bool taken = false;
  };
  void grow(std::int64_t bytes);

  int gpu_;
  std::int64_t slot_bytes_ = 0;
  std::shared_ptr<void> memory_;  // the host's, all slots one after another
  std::vector<Slot> slots_;       // up to kSlots, made as they are needed
  std::size_t next_ = 0;
};

}  // namespace strata::cuda
