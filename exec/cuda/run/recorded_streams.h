#pragma once

// Work of all of a backend's streams as one recording (device/recording.h), between two walls: what
// is recorded waits for nothing from before, and what is played begins when all that was on any
// stream has ended, and ends before what comes next on any. Not thread-safe.

#include <cstdint>
#include <optional>

#include "exec/cuda/device/recording.h"
#include "exec/cuda/run/cuda_backend.h"

namespace strata::cuda {

/// What is put on any stream while it lives is recorded.
class RecordedStreams {
 public:
  /// All devices are here.
  explicit RecordedStreams(CudaBackend& backend);
  /// Throws EnvironmentError where something was asked that can't be recorded, or memory went that
  /// may have been recorded: a pool that finds no more gives back what lies free, though what was
  /// recorded on it is not done.
  Recorded end();

 private:
  CudaBackend& backend_;
  std::uint64_t losses_;  // of memory, before
  std::optional<Recording> recording_;
};

/// On all streams.
void play(Recorded& recorded, CudaBackend& backend);

}  // namespace strata::cuda
