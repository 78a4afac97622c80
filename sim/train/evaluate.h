#pragma once

// A trained network's accuracy on samples that it has not seen. Every sample counts once: what is
// left over after full batches runs as one smaller batch on one device. There is no running mean:
// batch normalisation uses each test batch's own statistics.

#include <atomic>

#include "sim/train/dataset.h"
#include "sim/train/run.h"

namespace strata {

TestResult evaluate(Runner& runner, const RunRequest& request, const RunReport& trained,
                    const Dataset& test, const std::atomic<bool>* cancelled);

/// Every layer whole on the cluster's first device.
Strategy on_one_device(const Graph& graph);

/// `plan` with these parameters.
std::unique_ptr<PlanRun> start(Runner& runner, const std::string& devices, const Graph& graph,
                               const Plan& plan, const ExecutionOptions& options,
                               const NetworkWeights& weights);

}  // namespace strata
