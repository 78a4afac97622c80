#include "exec/cuda/run/stream_run.h"
#include "exec/runtime/rank_results.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

DeviceSet all_devices(const Plan& plan) {
  DeviceSet all;
  for (std::size_t d = 0; d < plan.device_count(); ++d) all.emplace_back(d);
  return all;
}

// Those that the plan has something to do together, and all of several processes.
std::unique_ptr<Peers> peers_for(const Plan& plan, const CudaBackend& backend, const Ranks* ranks) {
  if (ranks == nullptr && !has_collectives(plan)) return nullptr;
  auto peers = std::make_unique<Peers>(backend.gpus(), ranks);
  if (ranks != nullptr) peers->meet(all_devices(plan));
  for (const Group& group : plan.groups()) {
    const bool together = plan[group.tasks.front()].kind == TaskKind::collective;
    if (together) peers->meet(devices_of(plan, group));
  }
  return peers;
}

/// By device; of this process's.
std::vector<std::size_t> plain_loops_of(CudaBackend& backend) {
  std::vector<std::size_t> counts(backend.device_count());
  for (std::size_t d = 0; d < counts.size(); ++d) {
    if (backend.is_here(DeviceId(d))) counts[d] = backend.seat(DeviceId(d)).plain_loops().size();
  }
  return counts;
}

}  // namespace

StreamExecutor::StreamExecutor(const Graph& graph, const Plan& plan, CudaBackend& backend,
                               const ExecutionOptions& options, const Ranks* ranks)
    : graph_(graph),
      plan_(plan),
      backend_(backend),
      ranks_(ranks),
      serial_(options.serial),
      task_times_(options.task_times),
      peers_(peers_for(plan, backend, ranks)),
      executor_(graph, plan, backend, options,
                ranks == nullptr ? DeviceId{} : DeviceId(ranks->rank())) {
  if (backend.type() == Type::bf16) {
    coded_.emplace(graph);
    backend.code_numbers();
  }
  if (!options.recorded) return;
  if (ranks != nullptr) {
    throw InputError("--graph: several processes play no graphs; allowed: one process");
  }
  recorded_.emplace(plan, backend);
}

std::vector<float> StreamExecutor::parameters(LayerId layer) const {
  return ranks_ == nullptr ? executor_.parameters(layer)
                           : merged_parameters(*ranks_, executor_, graph_, layer);
}

std::vector<float> StreamExecutor::gradients(LayerId layer) const {
  return ranks_ == nullptr ? executor_.gradients(layer)
                           : merged_gradients(*ranks_, executor_, layer);
}

Execution StreamExecutor::run(std::size_t steps, const BatchOf& batch_of,
                              const std::atomic<bool>* cancelled) {
  const std::vector<std::size_t> before = plain_loops_of(backend_);
  executor_.before_run();
  const Communicators communicators{ranks_, peers_.get()};
  const BatchOf coded = [&](std::uint64_t step) { return coded_->coded(batch_of(step)); };
  const LaunchMode mode{serial_, recorded_ ? &*recorded_ : nullptr, task_times_};
  Execution result = StreamRun(executor_, plan_, backend_, steps, coded_ ? coded : batch_of,
                               cancelled, communicators, mode)
                         .execute();
  executor_.after_run(steps);
  count_plain_loops(before);
  result.plain_loops = plain_loops();
  return result;
}

// All kernels are made in runs, and nobody else makes any of this backend's meanwhile.
void StreamExecutor::count_plain_loops(std::span<const std::size_t> before) {
  for (std::size_t d = 0; d < before.size(); ++d) {
    if (!backend_.is_here(DeviceId(d))) continue;
    const std::vector<std::string>& reasons = backend_.seat(DeviceId(d)).plain_loops();
    if (reasons.size() == before[d]) continue;
    if (plain_loops_.products == 0) plain_loops_.first_status = reasons[before[d]];
    plain_loops_.products += static_cast<std::int64_t>(reasons.size() - before[d]);
  }
}

PlainLoops StreamExecutor::plain_loops() const {
  PlainLoops all = plain_loops_;
  if (ranks_ == nullptr) return all;
  ranks_->add(std::span(&all.products, 1));
  if (all.products > 0 && all.first_status.empty()) all.first_status = "said in another process";
  return all;
}

}  // namespace strata::cuda
