#include "exec/cuda/streams/seat.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cuda {

LastingMemory::LastingMemory(int gpu, std::int64_t bytes) : gpu_(gpu), bytes_(bytes) {
  if (bytes == 0) return;
  data_ = allocate(gpu, bytes);
  if (data_ == nullptr) {
    throw EnvironmentError(
        fmt::format("out of memory: GPU {} has no room for {} bytes more", gpu, bytes));
  }
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
    : part_(part), precision_(precision), stream_(part), state_(part.gpu, sizeof(StepState)) {}

// Labels come from pageable memory, so they have been read when the call returns; and so has the
// state.
void Seat::begin_step(const StepContext& context, std::int64_t loss_shift_bytes) {
  const auto bytes = static_cast<std::int64_t>(context.labels.size_bytes());
  if (bytes > labels_.bytes()) {
    stream_.finish();
    labels_ = LastingMemory(gpu(), bytes);
    ++moves_;
  }
  const StepState state{context.step, context.learning_rate, loss_shift_bytes};
  copy(state_.data(), &state, sizeof state, stream_);
  if (bytes > 0) copy(labels_.data(), context.labels.data(), bytes, stream_);
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
