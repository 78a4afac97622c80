#pragma once

// A Timeline as PyTorch's profiler would write it, one trace-event file a device with its rank:
// what HTA (Holistic Trace Analysis) reads, and Perfetto too. Tasks are kernels on the device's
// streams, communication under NCCL's names, which is how HTA tells it from computation. A host
// thread holds the steps, and for each kernel a launch of no length when its task was ready: time
// between the two is time in a queue.

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// By device. Times in microseconds with picosecond decimals.
std::vector<std::string> print_rank_traces(const Graph& graph, const Cluster& cluster,
                                           const Plan& plan, const Timeline& timeline);

}  // namespace strata
