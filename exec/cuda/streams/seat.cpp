#include "exec/cuda/streams/seat.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "exec/cuda/device/out_of_memory.h"
#include "sim/base/error.h"

namespace strata::cuda {

LastingMemory::LastingMemory(int gpu, std::int64_t bytes) : gpu_(gpu), bytes_(bytes) {
  if (bytes == 0) return;
  data_ = allocate(gpu, bytes);
  if (data_ == nullptr) throw EnvironmentError(out_of_memory(gpu, bytes));
}

LastingMemory::~LastingMemory() {
  if (data_ != nullptr) release(gpu_, data_);
}

void LastingMemory::swap(LastingMemory& other) {
  std::swap(gpu_, other.gpu_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
}

Seat::Seat(const GpuPart& part, Precision precision)
    : part_(part),
      precision_(precision),
      stream_(part),
      ring_(part.gpu),
      told_(part.gpu, kLabelsAt) {}

void Seat::begin_step(const StepContext& context, std::int64_t loss_shift_bytes) {
  static_assert(sizeof(StepState) <= kLabelsAt);
  const std::span<const std::byte> labels = std::as_bytes(context.labels);
  const std::int64_t bytes = kLabelsAt + static_cast<std::int64_t>(labels.size());
  if (bytes > told_.bytes()) {
    stream_.finish();
    told_ = LastingMemory(gpu(), bytes);
    ++moves_;
  }
  const StepState state{context.step, context.learning_rate,
                        adam_correction(context.step, context.constants), loss_shift_bytes};
  std::byte* const slot = ring_.next(bytes);
  std::memcpy(slot, &state, sizeof state);
  std::copy(labels.begin(), labels.end(), slot + kLabelsAt);
  copy(told_.data(), slot, bytes, stream_);
  ring_.take(stream_);
}

void Seat::tell(void* to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::byte* const slot = ring_.next(size);
  std::copy(bytes.begin(), bytes.end(), slot);
  copy(to, slot, size, stream_);
  ring_.take(stream_);
}

void* Seat::scratch(std::int64_t bytes) {
  if (bytes > scratch_.bytes()) {
    const std::int64_t larger = std::max(bytes, 2 * scratch_.bytes());
    stream_.finish();
    scratch_ = LastingMemory();
    scratch_ = LastingMemory(gpu(), larger);
    ++moves_;
  }
  return scratch_.data();
}

}  // namespace strata::cuda
