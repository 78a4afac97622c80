#include "exec/cuda/run/stream_run.h"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "exec/runtime/rank_results.h"
#include "exec/runtime/turns.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr auto kLookAtPeers = std::chrono::microseconds(100);

}  // namespace

StreamRun::StreamRun(Executor& executor, const Plan& plan, CudaBackend& backend, std::size_t steps,
                     const BatchOf& batch_of, const std::atomic<bool>* cancelled,
                     Communicators communicators, LaunchMode mode)
    : plan_(plan),
      backend_(backend),
      work_(executor, backend, steps, batch_of),
      communicators_(communicators),
      mode_(mode),
      played_(mode.recorded == nullptr ? StepRange{} : mode.recorded->played_of(steps)),
      crossing_(plan, backend, work_, communicators.peers),
      collectives_(plan, backend, work_, communicators.peers),
      events_(task_events(plan, executor.program(), backend, crossing_, mode.serial)),
      clock_(plan, events_, backend, {steps, mode.task_times, played_}, communicators.ranks),
      steps_(steps),
      cancelled_(cancelled),
      exceptions_(std::uncaught_exceptions()),
      tickets_(2 * plan.size()) {
  if (!is_watched()) return;
  for (std::size_t i = 0; i < plan.size(); ++i) names_.emplace_back(work_.name_of(TaskId(i)));
  names_.emplace_back("step");
}

Execution StreamRun::execute() {
  backend_.finish();
  if (communicators_.ranks != nullptr && communicators_.ranks->any(is_set(cancelled_)))
    throw Cancelled{};
  clock_.begin();
  for (std::uint32_t step = 0; step < steps_; ++step) {
    stop_if_cancelled();
    run_step(step);
  }
  finish();
  stop_if_cancelled();
  work_.check_losses();
  return result();
}

void StreamRun::run_step(std::uint32_t step) {
  const Range range(names_.empty() ? RangeName() : names_.back(), step);
  const Seconds begin = now();
  issue_step(step);
  issue_.push_back(now() - begin);
}

void StreamRun::issue_step(std::uint32_t step) {
  if (played_.contains(step)) {
    mode_.recorded->play(work_, step, [&] { issue_all(step); });
  } else {
    work_.begin_step(step);
    issue_all(step);
    if (mode_.recorded != nullptr) mode_.recorded->saw_plain();
  }
  clock_.end_step(step);
}

void StreamRun::issue_all(std::uint32_t step) {
  for (std::size_t i = 0; i < plan_.size(); ++i) issue({step, TaskId(i)});
}

bool StreamRun::fails() const {
  return std::uncaught_exceptions() > exceptions_;
}

// Whatever ends it, nothing that it holds may go while streams still use it. What waits for peers,
// who may have got no further, would wait for ever.
StreamRun::~StreamRun() {
  if (communicators_.ranks != nullptr && fails()) communicators_.peers->abandon();
  try {
    backend_.finish();
  } catch (...) {  // said by who waited for the work
  }
}

// Ranks can only stop together, before they begin.
void StreamRun::stop_if_cancelled() const {
  if (communicators_.ranks == nullptr) throw_if_cancelled(cancelled_);
}

// What waits for another process's part may wait for ever, where the way to that has failed: so the
// peers are asked meanwhile.
void StreamRun::finish() {
  Peers* const peers = communicators_.peers;
  while (communicators_.ranks != nullptr && !backend_.is_done()) {
    peers->check();
    std::this_thread::sleep_for(kLookAtPeers);
  }
  backend_.finish();
  if (peers != nullptr) peers->check();
}

Execution StreamRun::result() {
  std::vector<Span> spans = clock_.measured();
  if (communicators_.ranks != nullptr) merge_results(*communicators_.ranks, work_, spans);
  set_join_spans(plan_, spans);
  derive_readiness(plan_, spans);
  Execution result = work_.result(std::move(spans));
  result.played = played_;
  result.issue = issue_;
  return result;
}

template <class Work>
void StreamRun::with_name(Turn turn, const Work& work) try {
  work();
} catch (Error& error) {
  error.add_context(work_.name_of(turn));
  throw;
}

// Participants come together, where the last of them stands. A join is nobody's.
void StreamRun::issue(Turn turn) {
  const Task& task = plan_[turn.task];
  if (task.kind == TaskKind::join) return;
  const Range range(names_.empty() ? RangeName() : names_[turn.task()], turn.step);
  with_name(turn, [&] {
    if (task.kind == TaskKind::collective) {
      const Group& group = plan_.groups()[task.detail];
      if (group.tasks.back() == turn.task) issue_together(turn.step, group);
    } else if (task.kind == TaskKind::transfer && crossing_.concerns(turn.task)) {
      issue_across(turn);
    } else if (backend_.is_here(task.device)) {
      issue_alone(turn);
    }
  });
}

void StreamRun::issue_alone(Turn turn) {
  const Task& task = plan_[turn.task];
  const std::uint32_t stream = backend_.stream_of(task.device, task.stream);
  wait_for(turn, stream);
  clock_.start(turn, stream);
  do_alone(turn, stream);
  work_.issued(turn, ticket(turn));
}

void StreamRun::do_alone(Turn turn, std::uint32_t stream) {
  backend_.enter_stream(stream);
  Staged fetched;
  const bool fetches = work_.is_wanted(turn.task) && crossing_.concerns(turn.task);
  if (fetches) {
    fetched = crossing_.reduce(turn.task, backend_.stream(stream));
  } else {
    work_.perform(turn);
  }
  clock_.end(turn, stream);
  ticket(turn) = end_of(turn, stream);
  if (fetches) crossing_.give_back(fetched, ticket(turn));
}

Ticket StreamRun::end_of(Turn turn, std::uint32_t stream) {
  Order& order = backend_.order();
  const Ticket end = events_.is_waited_for[turn.task()] ? order.mark(stream) : order.put(stream);
  if (mode_.serial) last_[backend_.stream(stream).gpu()] = end;
  return end;
}

void StreamRun::wait_for(Turn turn, std::uint32_t stream) {
  Order& order = backend_.order();
  if (mode_.serial) order.after(stream, last_[backend_.stream(stream).gpu()]);
  latest_first(plan_, plan_.dependencies(turn.task), [&](TaskId before) {
    order.after(stream, ticket({turn.step, before}));
  });
  if (turn.step == 0) return;
  latest_first(plan_, plan_.carried(turn.task), [&](TaskId before) {
    order.after(stream, ticket({turn.step - 1, before}));
  });
}

}  // namespace strata::cuda
