#pragma once

// Measured costs of what a set of strategies will run: each phase of each shard's shape, and moves
// of bytes by size, on all devices of a backend at once, as a run would use them. A round takes
// samples of everything, so that the machine's moods fall on all alike and a caller can take turns
// between rounds and runs.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/runtime/backend.h"
#include "sim/graph/graph.h"
#include "sim/measure/runner.h"

namespace strata {

/// What a machine says of the devices that it measures.
struct CalibrateOptions {
  std::string source;            ///< goes into every row
  std::optional<Bytes> memory;   ///< of each device, which what is measured at once must fit in
  std::vector<DeviceId> copies;  ///< by device: from whose memory; empty: from the next one's
  bool sums = true;              ///< of what others hold: whether devices read it themselves
  bool recorded = false;         ///< as ExecutionOptions have it; of asynchronous devices
  /// At work before the first sample, where devices are asynchronous: idle ones have slow clocks.
  Seconds spin_up;
};

/// The graph must outlive the Measurer. `list.dtype` is the backend's.
std::unique_ptr<Measurer> calibrate(std::shared_ptr<Backend> backend, const Graph& graph,
                                    const MeasureList& list, CalibrateOptions options);

}  // namespace strata
