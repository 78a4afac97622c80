#pragma once

// Measured costs of what a set of strategies will run: each phase of each shard's shape, and moves
// of bytes by size, on all devices of a backend at once, as a run would use them. A round takes one
// sample of everything, so that the machine's moods fall on all alike and a caller can take turns
// between rounds and runs.

#include <memory>
#include <string>
#include <vector>

#include "exec/runtime/backend.h"
#include "sim/graph/graph.h"
#include "sim/study/runner.h"

namespace strata {

/// `source` goes into every row. The graph must outlive the Measurer.
std::unique_ptr<Measurer> calibrate(std::unique_ptr<Backend> backend, const Graph& graph,
                                    const std::vector<MeasureRequest>& requests,
                                    std::vector<Bytes> move_sizes, std::string source);

}  // namespace strata
