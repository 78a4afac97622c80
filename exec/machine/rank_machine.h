#pragma once

// What of a machine is different when its devices are processes. Without MPI in the build, there is
// nothing here to call. Internal to exec/machine.

#include <cstddef>
#include <memory>
#include <string>

#include "exec/machine/device_list.h"
#include "exec/runtime/backend.h"
#include "sim/cluster/cluster.h"
#include "sim/measure/runner.h"

namespace strata {

namespace mpi {
class World;
}

/// Throws InputError where the world has another number of processes.
void check_one_device_a_process(const mpi::World& world, int devices);

/// All processes start it. Throws PeerFailed where another one failed before it came here.
std::unique_ptr<PlanRun> start_rank(mpi::World& world, std::unique_ptr<Backend> backend,
                                    const Graph& graph, const Plan& plan,
                                    const ExecutionOptions& options);

/// The same on GPUs, where NCCL carries the data and each rank has a GPU of its host's list.
Cluster gpus_of_ranks(const mpi::World& world, const DeviceList& list, const std::string& name);
std::unique_ptr<PlanRun> start_gpu_rank(mpi::World& world, const DeviceList& list,
                                        const Graph& graph, const Plan& plan,
                                        const ExecutionOptions& options);

std::string describe(const mpi::World& world);

}  // namespace strata
