#pragma once

// Times of moving bytes by size, on all devices at once: from the next device's memory, added to
// one's own, and within one's own. What is read was written by its owner a moment ago.

#include <atomic>
#include <barrier>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "exec/calibrate/samples.h"
#include "exec/runtime/backend.h"
#include "sim/profile/measured_move.h"

namespace strata {

class MoveTimes {
 public:
  MoveTimes(Backend& backend, std::vector<Bytes> sizes);
  ~MoveTimes();
  MoveTimes(const MoveTimes&) = delete;
  MoveTimes& operator=(const MoveTimes&) = delete;

  /// One sample of each; called on every device's thread, which meet at `meet` before each.
  /// Throws Cancelled.
  void round(DeviceId device, std::barrier<>& meet, const std::atomic<bool>* cancelled);
  std::vector<MeasuredMove> rows(const std::string& source) const;

 private:
  Seconds time(DeviceId device, MoveKind kind, float* own, const float* other, std::int64_t count);

  Backend& backend_;
  std::vector<Bytes> sizes_;
  std::vector<float*> from_, to_;  // by device
  mutable std::mutex mutex_;
  std::map<std::pair<MoveKind, std::int64_t>, Samples> samples_;
};

}  // namespace strata
