#pragma once

// Work of streams that is kept to be played again, with one call for all of it: CUDA's graphs.
//
// A recording begins on one stream. Another stream is recorded from when it waits for an event that
// was recorded of the first; in the end the first must wait for all of them. What is recorded is
// not done. A recorded stream waits for nothing from before, so who records brings all streams
// together before; and nobody waits for a recorded event later, but for what was played. Addresses
// are recorded, not what lies there. Not thread-safe.

#include <memory>
#include <utility>

#include "exec/cuda/device/device.h"

namespace strata::cuda {

/// What was recorded.
class Recorded {
 public:
  /// All of it once more, in the stream's order. It must have been done before the graph goes.
  void play(Stream& stream);

 private:
  friend class Recording;
  explicit Recorded(std::shared_ptr<void> body) : body_(std::move(body)) {}
  std::shared_ptr<void> body_;  // CUDA's own: a cudaGraphExec_t
};

class Recording {
 public:
  explicit Recording(Stream& first);
  /// One that did not come to its end is thrown away.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Throws EnvironmentError where something was asked that can't be recorded.
  Recorded end();

 private:
  Stream& first_;
  bool under_way_ = true;
};

}  // namespace strata::cuda
