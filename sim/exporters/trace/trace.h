#pragma once

// Timelines as trace-event JSON, which Perfetto and chrome://tracing open. One process per device
// with threads for what occupies it ("compute"), parameter synchronisation, statistics and arriving
// transfers; memory as a counter; one process for the links with their rates as counters; arrows
// for dependencies between threads. Times in microseconds with picosecond decimals.

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& timeline);

/// Both side by side: each thread of a device twice, "compute predicted" above "compute measured",
/// and each counter too. Both begin at 0, and each keeps its own pace.
std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& predicted, const Timeline& measured);

}  // namespace strata
