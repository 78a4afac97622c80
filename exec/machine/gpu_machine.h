#pragma once

// This machine's GPUs. In a program that was built without CUDA, or on a machine without a GPU,
// every function throws an EnvironmentError that says so. Internal to exec/machine.

#include <memory>
#include <string>

#include "exec/machine/device_list.h"
#include "exec/runtime/backend.h"
#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/study/runner.h"

namespace strata::gpu_machine {

/// `name`: what the user calls the devices.
Cluster cluster(const DeviceList& list, const std::string& name);
/// Of the plan's type; fp16 is an InputError.
std::unique_ptr<PlanRun> start(const DeviceList& list, const Graph& graph, const Plan& plan,
                               const ExecutionOptions& options);
/// In fp32, to measure on.
std::unique_ptr<Backend> backend(const DeviceList& list);
/// "NVIDIA H200, driver 13.0, CUDA 13.0".
std::string description(const DeviceList& list);

}  // namespace strata::gpu_machine
