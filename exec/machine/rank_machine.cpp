#include "exec/machine/rank_machine.h"

#ifdef STRATA_MPI

#include <fmt/format.h>

#include "exec/machine/executor_run.h"
#include "exec/machine/gpu_machine.h"
#include "exec/machine/processes.h"
#include "exec/mpi/rank_executor.h"
#include "exec/mpi/world.h"
#include "sim/base/error.h"

namespace strata {
namespace {

void settle(mpi::World& world) {
  if (world.settled()) return;
  const mpi::World::Failure failure = world.settle(0);
  if (failure.exit_code != 0) throw PeerFailed(failure.rank, failure.exit_code);
}

}  // namespace

void check_one_device_a_process(const mpi::World& world, int devices) {
  if (static_cast<std::size_t>(devices) == world.size()) return;
  throw InputError(fmt::format(
      "cpu:{} on {} processes; allowed: cpu:{}, one device a process (profile and validate measure "
      "this machine: without mpirun)",
      devices, world.size(), world.size()));
}

std::unique_ptr<PlanRun> start_rank(mpi::World& world, std::unique_ptr<Backend> backend,
                                    const Graph& graph, const Plan& plan,
                                    const ExecutionOptions& options) {
  settle(world);
  return std::make_unique<ExecutorRun<mpi::RankExecutor>>(std::move(backend), [&](Backend& own) {
    return mpi::RankExecutor(world, graph, plan, own, options);
  });
}

Cluster gpus_of_ranks(const mpi::World& world, const DeviceList& list, const std::string& name) {
  return gpu_machine::cluster_of_ranks(list, name, world.places());
}

// A rank that has no such GPU fails before all settle, and the others hear of it.
std::unique_ptr<PlanRun> start_gpu_rank(mpi::World& world, const DeviceList& list,
                                        const Graph& graph, const Plan& plan,
                                        const ExecutionOptions& options) {
  auto own = gpu_machine::backend_of_rank(list, world.places(), world.rank(), plan.dtype());
  settle(world);
  return gpu_machine::start_rank(world, std::move(own), graph, plan, options);
}

std::string describe(const mpi::World& world) {
  return world.description();
}

}  // namespace strata

#endif
