#pragma once

// This machine's GPUs. In a program that was built without CUDA, or on a machine without a GPU,
// every function throws an EnvironmentError that says so. Internal to exec/machine.

#include <memory>
#include <span>
#include <string>

#include "exec/calibrate/calibration.h"
#include "exec/machine/device_list.h"
#include "exec/runtime/backend.h"
#include "exec/runtime/ranks.h"
#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/measure/runner.h"
#include "sim/plan/plan.h"

namespace strata::gpu_machine {

/// `name`: what the user calls the devices.
Cluster cluster(const DeviceList& list, const std::string& name);
/// What each device may use of its GPU, which is tried.
struct Partitions;
std::shared_ptr<const Partitions> partitions(const DeviceList& list);
/// Computes in this type; fp16 is an InputError. What runs and measures in turns should share one:
/// it lends memory to whose turn it is. `partitions`: of the list.
std::shared_ptr<Backend> backend(const DeviceList& list, const Partitions& partitions, DType dtype);
/// On such a backend, of the plan's type.
std::unique_ptr<PlanRun> start(std::shared_ptr<Backend> gpus, const Graph& graph, const Plan& plan,
                               const ExecutionOptions& options);
// Of several processes, a device each: on every host those of the list, by their ranks there.
/// As cluster(). Throws InputError, EnvironmentError where the list and the ranks don't fit.
Cluster cluster_of_ranks(const DeviceList& list, const std::string& name,
                         std::span<const RankPlace> places);
/// This rank's.
std::shared_ptr<Backend> backend_of_rank(const DeviceList& list, std::span<const RankPlace> places,
                                         std::size_t rank, DType dtype);
/// On that. All ranks start it.
std::unique_ptr<PlanRun> start_rank(const Ranks& ranks, std::shared_ptr<Backend> own,
                                    const Graph& graph, const Plan& plan,
                                    const ExecutionOptions& options);

/// How these devices are measured; but for the source of the rows.
CalibrateOptions calibrate_options(const DeviceList& list);

/// "NVIDIA H200, 4 x 32 of 132 SMs, driver 580.95.05 for CUDA 13.0, CUDA 13.0, cuDNN 9.19.0, ...".
/// `partitions`: of the list.
std::string description(const DeviceList& list, const Partitions& partitions);
/// "GPU 0: SM 1980 MHz, memory 3201 MHz, 412 W, clocks held back by: nothing".
std::string state(const DeviceList& list);
/// Of each device; of the smallest one.
Bytes own_memory(const DeviceList& list);

}  // namespace strata::gpu_machine
