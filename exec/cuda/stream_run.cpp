#include "exec/cuda/stream_run.h"

#include <algorithm>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata::cuda {

StreamWork::StreamWork(Executor& executor, CudaBackend& backend, std::size_t steps,
                       const BatchOf& batch_of)
    : TaskWork(executor, steps, batch_of),
      program_(executor.program()),
      backend_(backend),
      users_(executor.program().buffers().size()) {}

void StreamWork::issued(Turn turn, Ticket ticket) {
  for (BufferId buffer : program_[turn.task].releases) users_[buffer()].push_back(ticket);
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
  backend_.release_after(program_.buffers()[id()].device, memory, std::exchange(users, {}));
}

void StreamWork::begin_step(std::uint32_t step) {
  for (std::size_t d = 0; d < backend_.device_count(); ++d) {
    backend_.begin_step(DeviceId(d), context(step));
  }
}

void StreamWork::check_losses() try {
  for (const LossPart& part : losses()) check_finite(part);
} catch (const LossNotFinite& error) {
  explain(error);
}

StreamRun::StreamRun(Executor& executor, const Plan& plan, CudaBackend& backend, std::size_t steps,
                     const BatchOf& batch_of, const std::atomic<bool>* cancelled)
    : plan_(plan),
      backend_(backend),
      work_(executor, backend, steps, batch_of),
      steps_(steps),
      cancelled_(cancelled),
      tickets_(2 * plan.size()) {
  for (std::size_t d = 0; d < backend.device_count(); ++d) {
    begin_.emplace_back(backend.seat(DeviceId(d)).gpu(), EventKind::time);
  }
  for (std::size_t i = 0; i < steps * plan.size(); ++i) {
    const int gpu = backend.seat(plan[TaskId(i % plan.size())].device).gpu();
    times_.push_back({Event(gpu, EventKind::time), Event(gpu, EventKind::time)});
  }
}

Execution StreamRun::execute() {
  backend_.finish();
  for (std::size_t d = 0; d < begin_.size(); ++d) {
    begin_[d].record(backend_.seat(DeviceId(d)).stream());
  }
  for (std::uint32_t step = 0; step < steps_; ++step) {
    throw_if_cancelled(cancelled_);
    work_.begin_step(step);
    for (std::size_t i = 0; i < plan_.size(); ++i) issue({step, TaskId(i)});
  }
  backend_.finish();
  throw_if_cancelled(cancelled_);
  work_.check_losses();
  return work_.result(spans());
}

// Whatever ends it, nothing that it holds may go while streams still use it.
StreamRun::~StreamRun() {
  try {
    backend_.finish();
  } catch (...) {  // said by who waited for the work
  }
}

void StreamRun::issue(Turn turn) {
  const DeviceId device = plan_[turn.task].device;
  const auto stream = static_cast<std::uint32_t>(device());
  wait_for(turn, stream);
  Times& times = times_[turn.step * plan_.size() + turn.task()];
  Stream& on = backend_.seat(device).stream();
  backend_.enter(device);
  times.start.record(on);
  try {
    work_.perform(turn);
  } catch (Error& error) {
    error.add_context(work_.name_of(turn));
    throw;
  }
  times.end.record(on);
  ticket(turn.step, turn.task) = backend_.order().mark(stream);
  work_.issued(turn, ticket(turn.step, turn.task));
}

void StreamRun::wait_for(Turn turn, std::uint32_t stream) {
  Order& order = backend_.order();
  for (TaskId before : plan_.dependencies(turn.task)) {
    order.after(stream, ticket(turn.step, before));
  }
  if (turn.step == 0) return;
  for (TaskId before : plan_.carried(turn.task)) {
    order.after(stream, ticket(turn.step - 1, before));
  }
}

// In the clock that began with the run. A task was ready when all that it waits for had ended.
std::vector<Span> StreamRun::spans() const {
  std::vector<Span> spans(times_.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::size_t step = i / plan_.size();
    const TaskId task(i % plan_.size());
    const Event& begin = begin_[plan_[task].device()];
    Span& span = spans[i];
    span.start = times_[i].start.since(begin);
    span.end = std::max(span.start, times_[i].end.since(begin));
    for (TaskId before : plan_.dependencies(task)) {
      span.ready = std::max(span.ready, spans[step * plan_.size() + before()].end);
    }
    if (step == 0) continue;
    for (TaskId before : plan_.carried(task)) {
      span.ready = std::max(span.ready, spans[(step - 1) * plan_.size() + before()].end);
    }
  }
  return spans;
}

Execution StreamExecutor::run(std::size_t steps, const BatchOf& batch_of,
                              const std::atomic<bool>* cancelled) {
  executor_.before_run();
  Execution result = StreamRun(executor_, plan_, backend_, steps, batch_of, cancelled).execute();
  executor_.after_run(steps);
  return result;
}

}  // namespace strata::cuda
