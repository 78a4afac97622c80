#pragma once

// The Stopwatch of GPUs: pairs of events around pieces of work. What is held waits behind a gate
// that holds the streams; or it is recorded, all devices' work as one, and played whole, as a
// recorded step is. There the events are nodes of the recording: kernels of one piece follow one
// another as in a recorded step, but between two pieces are two events that a step has not. What
// these add is measured first, of tasks that do next to nothing, and subtracted from each time.

#include <exception>
#include <optional>
#include <vector>

#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/recorded_streams.h"
#include "exec/cuda/streams/gate.h"
#include "exec/runtime/stopwatch.h"

namespace strata::cuda {

class QueueTimes : public Stopwatch {
 public:
  /// The backend must outlive it.
  explicit QueueTimes(CudaBackend& backend, bool recorded = false);
  ~QueueTimes() override;

  void hold() override;
  void let_go() override;
  void time(DeviceId device, const std::function<void()>& work) override;
  std::vector<Seconds> read() override;
  bool held() const override { return held_; }

 private:
  struct Piece {
    Event start, end;
  };
  struct TimedPiece {
    std::size_t device, piece;
  };
  /// What one task that does next to nothing takes, and what two events add to a piece of it.
  struct SmallTasks {
    Seconds each, events;
  };
  void record(Event& event, Stream& on);
  std::vector<Seconds> time_small_tasks();
  void measure_events();

  CudaBackend& backend_;
  bool recorded_;
  Gate gate_;
  std::optional<RecordedStreams> recording_;  // of what is held now
  std::vector<Recorded> playing_;             // until they have been read
  std::exception_ptr failed_;                 // what could not be recorded
  std::vector<std::vector<Piece>> pieces_;    // by device: events, used again after each read()
  std::vector<std::size_t> used_;             // by device: how many of them
  std::vector<TimedPiece> order_;             // of the calls of time()
  std::vector<SmallTasks> small_;             // by device, of those that are recorded
  bool held_ = true;
};

}  // namespace strata::cuda
