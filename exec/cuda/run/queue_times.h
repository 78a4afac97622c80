#pragma once

// The Stopwatch of GPUs: pairs of events around pieces of work, and a gate that holds the streams.

#include <vector>

#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/streams/gate.h"
#include "exec/runtime/stopwatch.h"

namespace strata::cuda {

class QueueTimes : public Stopwatch {
 public:
  /// The backend must outlive it.
  explicit QueueTimes(CudaBackend& backend);
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
  struct Place {
    std::size_t device, piece;
  };

  CudaBackend& backend_;
  Gate gate_;
  std::vector<std::vector<Piece>> pieces_;  // by device: events, used again after each read()
  std::vector<std::size_t> used_;           // by device: how many of them
  std::vector<Place> order_;                // of the calls of time()
  bool held_ = true;
};

}  // namespace strata::cuda
