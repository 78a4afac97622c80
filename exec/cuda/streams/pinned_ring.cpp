#include "exec/cuda/streams/pinned_ring.h"

#include <algorithm>

namespace strata::cuda {

std::byte* PinnedRing::next(std::int64_t bytes) {
  if (bytes > slot_bytes_) grow(bytes);
  if (next_ == slots_.size()) slots_.push_back({Event(gpu_, EventKind::order)});
  Slot& slot = slots_[next_];
  if (slot.taken) slot.read.finish();
  slot.taken = false;
  return static_cast<std::byte*>(memory_.get()) + slot_bytes_ * static_cast<std::int64_t>(next_);
}

void PinnedRing::take(Stream& stream) {
  slots_[next_].read.record(stream);
  slots_[next_].taken = true;
  next_ = (next_ + 1) % kSlots;
}

void PinnedRing::grow(std::int64_t bytes) {
  constexpr std::int64_t kSlotAlignment = 256;
  for (Slot& slot : slots_) {
    if (slot.taken) slot.read.finish();
    slot.taken = false;
  }
  const std::int64_t larger = std::max(bytes, 2 * slot_bytes_);
  slot_bytes_ = (larger + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  memory_ = host_memory(slot_bytes_ * static_cast<std::int64_t>(kSlots));
}

}  // namespace strata::cuda
