#include "exec/mpi/rank_executor.h"

#include <fmt/format.h>

#include "exec/mpi/messages.h"
#include "exec/mpi/rank_run.h"
#include "exec/runtime/rank_results.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata::mpi {
namespace {

// Before anything is allocated for it.
const Plan& one_device_a_rank(const Plan& plan, const World& world) {
  if (uses_copy_engines(plan)) throw InternalError("these devices have no copy engines");
  if (plan.device_count() == world.size()) return plan;
  throw EnvironmentError(fmt::format("{} devices on {} processes; allowed: one device a process",
                                     plan.device_count(), world.size()));
}

}  // namespace

RankExecutor::RankExecutor(const World& world, const Graph& graph, const Plan& plan,
                           Backend& backend, const ExecutionOptions& options, Seconds patience)
    : world_(world),
      graph_(graph),
      plan_(one_device_a_rank(plan, world)),
      backend_(backend),
      patience_(patience),
      messages_(std::make_unique<Messages>(plan.size())),
      executor_(graph, plan, backend, options, DeviceId(world.rank())) {}

RankExecutor::~RankExecutor() = default;

void RankExecutor::set_parameters(LayerId layer, std::span<const float> whole) {
  executor_.set_parameters(layer, whole);
}

std::vector<float> RankExecutor::parameters(LayerId layer) const {
  return merged_parameters(world_, executor_, graph_, layer);
}

std::vector<float> RankExecutor::gradients(LayerId layer) const {
  return merged_gradients(world_, executor_, layer);
}

Execution RankExecutor::run(std::size_t steps, const BatchOf& batch_of,
                            const std::atomic<bool>* cancelled) {
  if (world_.any(is_set(cancelled))) throw Cancelled{};
  executor_.before_run();
  Execution result =
      RankRun(world_, *messages_, plan_, backend_, executor_, steps, batch_of, patience_).execute();
  executor_.after_run(steps);
  return result;
}

}  // namespace strata::mpi
