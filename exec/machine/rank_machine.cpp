#include "exec/machine/rank_machine.h"

#ifdef STRATA_MPI

#include <fmt/format.h>

#include "exec/machine/executor_run.h"
#include "exec/machine/processes.h"
#include "exec/mpi/rank_executor.h"
#include "exec/mpi/world.h"
#include "sim/base/error.h"

namespace strata {

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
  if (!world.settled()) {
    const mpi::World::Failure failure = world.settle(0);
    if (failure.exit_code != 0) throw PeerFailed(failure.rank, failure.exit_code);
  }
  return std::make_unique<ExecutorRun<mpi::RankExecutor>>(std::move(backend), [&](Backend& own) {
    return mpi::RankExecutor(world, graph, plan, own, options);
  });
}

std::string describe(const mpi::World& world) {
  return world.description();
}

}  // namespace strata

#endif
