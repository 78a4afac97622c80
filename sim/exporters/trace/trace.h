#pragma once

// Timelines as trace-event JSON, which Perfetto and chrome://tracing open. Times in microseconds
// with picosecond decimals. Pure; thread-safe.

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// One process per device with threads for what occupies it ("compute"), parameter synchronisation,
/// statistics and arriving transfers; memory as a counter; one process for the links with their
/// rates as counters; arrows for dependencies between threads. In a plan by classes, the devices
/// that stand for others.
std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& timeline);

/// Both side by side: each thread of a device twice, "compute predicted" above "compute measured",
/// and each counter too. Both begin at 0, and each keeps its own pace.
std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& predicted, const Timeline& measured);

/// A file a device with its rank, as PyTorch's profiler would write it: what HTA (Holistic Trace
/// Analysis) reads, and Perfetto too. Tasks are kernels on the device's streams, communication
/// under NCCL's names, which is how HTA tells it from computation. A host thread holds the steps,
/// and for each kernel a launch of no length when its task was ready: time between the two is time
/// in a queue.
std::vector<std::string> print_rank_traces(const Graph& graph, const Cluster& cluster,
                                           const Plan& plan, const Timeline& timeline);

/// What both forms say of a computation in its `args`, behind those of all tasks: its shard and, of
/// a layer that is one product with others, the names of all of them.
std::string computation_args(const Graph& graph, const Plan& plan, const Task& task);

}  // namespace strata
