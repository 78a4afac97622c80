#pragma once

// Times of moving bytes by size, on all devices at once: from another device's memory, added to
// one's own, and within one's own. What is read was written by its owner a moment ago.

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "exec/calibrate/calibration.h"
#include "exec/calibrate/meeting.h"
#include "exec/calibrate/samples.h"
#include "exec/runtime/backend.h"
#include "sim/profile/measured_move.h"

namespace strata {

class MoveTimes {
 public:
  MoveTimes(Backend& backend, const std::vector<Bytes>& sizes, const CalibrateOptions& options);
  ~MoveTimes();
  MoveTimes(const MoveTimes&) = delete;
  MoveTimes& operator=(const MoveTimes&) = delete;

  /// One sample of each; called on every device's thread, which meet at `meet` before each.
  /// Throws Cancelled.
  void round(DeviceId device, Meeting& meet, const std::atomic<bool>* cancelled);
  /// A few samples of each, of devices that work through queues.
  void round(Stopwatch& watch, const std::atomic<bool>* cancelled);
  /// Something to do for all devices, which does not count.
  void warm_up(const std::atomic<bool>* cancelled);
  std::vector<MeasuredMove> rows(const std::string& source) const;

 private:
  /// One kind and size.
  struct Move {
    MoveKind kind;
    Bytes bytes;
    std::int64_t count() const { return bytes.value / static_cast<std::int64_t>(sizeof(float)); }
  };

  void list_moves(const std::vector<Bytes>& sizes, bool sums);
  void take_memory();
  void fill(DeviceId device, const Move& move);
  void run(DeviceId device, const Move& move);
  std::vector<Seconds> all_at_once(const Move& move, Stopwatch& watch);

  Backend& backend_;
  std::vector<Move> moves_;
  std::vector<DeviceId> reads_;    // by device: whose memory
  std::vector<float*> from_, to_;  // by device
  mutable std::mutex mutex_;
  std::map<std::pair<MoveKind, std::int64_t>, Samples> samples_;
};

}  // namespace strata
