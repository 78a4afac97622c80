#include "exec/cuda/streams/pinned_ring.h"

#include <algorithm>

namespace strata::cuda {

std::byte* PinnedRing::next(std::int64_t bytes) {
  if (bytes > place_bytes_) grow(bytes);
  if (next_ == places_.size()) places_.push_back({Event(gpu_, EventKind::order)});
  Place& place = places_[next_];
  if (place.taken) place.read.finish();
  place.taken = false;
  return static_cast<std::byte*>(memory_.get()) + place_bytes_ * static_cast<std::int64_t>(next_);
}

void PinnedRing::take(Stream& stream) {
  places_[next_].read.record(stream);
  places_[next_].taken = true;
  next_ = (next_ + 1) % kPlaces;
}

void PinnedRing::grow(std::int64_t bytes) {
  constexpr std::int64_t kPlaceAlignment = 256;
  for (Place& place : places_) {
    if (place.taken) place.read.finish();
    place.taken = false;
  }
  const std::int64_t larger = std::max(bytes, 2 * place_bytes_);
  place_bytes_ = (larger + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
  memory_ = host_memory(place_bytes_ * static_cast<std::int64_t>(kPlaces));
}

}  // namespace strata::cuda
