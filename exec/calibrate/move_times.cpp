#include "exec/calibrate/move_times.h"

#include <algorithm>
#include <array>

#include "sim/base/cancel.h"

namespace strata {

MoveTimes::MoveTimes(Backend& backend, std::vector<Bytes> sizes)
    : backend_(backend),
      sizes_(std::move(sizes)),
      from_(backend.device_count()),
      to_(backend.device_count()) {
  if (sizes_.empty()) return;
  const Bytes most = *std::max_element(sizes_.begin(), sizes_.end());
  const std::int64_t count = most.value / static_cast<std::int64_t>(sizeof(float));
  for (std::size_t d = 0; d < from_.size(); ++d) {
    for (float** memory : {&from_[d], &to_[d]}) {
      *memory = static_cast<float*>(backend_.allocate(DeviceId(d), most.value));
      backend_.fill_values(*memory, count);
    }
  }
}

MoveTimes::~MoveTimes() {
  for (std::size_t d = 0; d < from_.size(); ++d) {
    if (from_[d] == nullptr) continue;
    backend_.release(DeviceId(d), from_[d]);
    backend_.release(DeviceId(d), to_[d]);
  }
}

Seconds MoveTimes::time(DeviceId device, MoveKind kind, float* own, const float* other,
                        std::int64_t count) {
  return backend_.time(device, [&] {
    if (kind != MoveKind::reduce) return backend_.copy_values(own, other, count);
    const std::array<const float*, 2> parts = {own, other};
    const std::array<std::int64_t, 2> counts = {1, 1};
    backend_.combine(Combination::sum, own, parts, counts, 0, count);
  });
}

void MoveTimes::round(DeviceId device, std::barrier<>& meet, const std::atomic<bool>* cancelled) {
  if (sizes_.empty()) return;
  float* const from = from_[device()];
  float* const to = to_[device()];
  meet.arrive_and_wait();
  const bool alone = backend_.device_count() == 1;
  const float* next = from_[(device() + 1) % backend_.device_count()];
  for (Bytes size : sizes_) {
    const std::int64_t count = size.value / static_cast<std::int64_t>(sizeof(float));
    for (MoveKind kind : {MoveKind::copy, MoveKind::reduce, MoveKind::local}) {
      if (alone && kind != MoveKind::local) continue;
      backend_.fill_values(from, count);
      backend_.finish();
      meet.arrive_and_wait();
      throw_if_cancelled(cancelled);
      const Seconds seconds = time(device, kind, to, kind == MoveKind::local ? from : next, count);
      meet.arrive_and_wait();
      const std::lock_guard lock(mutex_);
      samples_[{kind, size.value}].add({seconds.value});
    }
  }
}

std::vector<MeasuredMove> MoveTimes::rows(const std::string& source) const {
  std::vector<MeasuredMove> rows;
  for (const auto& [key, samples] : samples_) {
    const Summary s = samples.summary(Sampled::always);
    rows.push_back({key.first, {key.second}, s.median, s.spread, s.count, source});
  }
  return rows;
}

}  // namespace strata
