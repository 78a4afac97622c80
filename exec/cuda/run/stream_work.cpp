#include "exec/cuda/run/stream_work.h"

#include <algorithm>
#include <utility>

#include "sim/base/error.h"

namespace strata::cuda {

StreamWork::StreamWork(Executor& executor, CudaBackend& backend, std::size_t steps,
                       const BatchOf& batch_of)
    : TaskWork(executor, steps, batch_of),
      executor_(executor),
      program_(executor.program()),
      backend_(backend),
      users_(executor.plan().buffers().size()) {}

void StreamWork::issued(Turn turn, Ticket ticket) {
  for (BufferId buffer : program_.releases(turn.task)) {
    if (executor_.holds(buffer)) users_[buffer()].push_back(ticket);
  }
  let_go(turn.task);
}

// Of each stream the last one stands for those before it.
void StreamWork::release(BufferId id, void* memory) {
  std::vector<Ticket>& users = users_[id()];
  std::sort(users.begin(), users.end(), [](const Ticket& a, const Ticket& b) {
    return std::pair(a.stream, b.number) < std::pair(b.stream, a.number);
  });
  const auto same_stream = [](const Ticket& a, const Ticket& b) { return a.stream == b.stream; };
  users.erase(std::unique(users.begin(), users.end(), same_stream), users.end());
  backend_.release_after(executor_.plan()[id].device, memory, std::exchange(users, {}));
}

void StreamWork::begin_step(std::uint32_t step, std::int64_t loss_shift_bytes) {
  for (std::size_t d = 0; d < backend_.device_count(); ++d) {
    if (!backend_.is_here(DeviceId(d))) continue;
    backend_.seat(DeviceId(d)).begin_step(context(step), loss_shift_bytes);
  }
}

void StreamWork::check_losses() try {
  for (const LossPart& part : losses()) check_finite(part);
} catch (const LossNotFinite& error) {
  explain(error);
}

}  // namespace strata::cuda
