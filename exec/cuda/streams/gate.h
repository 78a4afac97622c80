#pragma once

// Lets streams wait for the host: what a timed piece of work needs to be in its queue whole before
// it begins. Not thread-safe.

#include <cstdint>
#include <memory>

#include "exec/cuda/device/device.h"

namespace strata::cuda {

class Gate {
 public:
  Gate();

  /// What is put on the stream from now on begins after the next open(), or 20 milliseconds after
  /// what was put there before: a queue that is full, or a call that waits for the GPU, holds
  /// nobody up for good.
  void close(Stream& stream);
  void open();
  /// Whether a stream went on before it was opened, since this was last asked. Precondition: the
  /// streams are done.
  bool gave_up();

 private:
  struct Words;
  Words& words();

  std::shared_ptr<void> words_;  // in the host's memory
  std::uint32_t next_ = 1;
};

}  // namespace strata::cuda
