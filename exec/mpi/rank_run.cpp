#include "exec/mpi/rank_run.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "exec/runtime/rank_results.h"
#include "sim/base/error.h"

namespace strata::mpi {
namespace {

// A signal handler has nothing else to reach.
std::atomic<bool> told_to_end{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// While one lives, SIGTERM sets the flag: mpirun sends it when a process was lost or it was itself
// interrupted, and leaves a second or so to say what was going on.
class EndSignal {
 public:
  EndSignal() : before_(std::signal(SIGTERM, [](int) { told_to_end = true; })) {}
  ~EndSignal() { std::signal(SIGTERM, before_); }
  EndSignal(const EndSignal&) = delete;
  EndSignal& operator=(const EndSignal&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace

RankRun::RankRun(const World& world, Messages& messages, const Plan& plan, Backend& backend,
                 Executor& executor, std::size_t steps, const BatchOf& batch_of, Seconds patience)
    : world_(world),
      plan_(plan),
      backend_(backend),
      own_(world.rank()),
      work_(executor, steps, batch_of),
      parts_(parts_of(plan, own_)),
      turns_(plan, steps, having_part(parts_)),
      messages_(messages),
      patience_(patience),
      spans_(steps * plan.size()) {}

// On a thread of its own, which the backend may bind to a core.
Execution RankRun::execute() {
  begin_ = world_.of_lead(world_.now());
  last_progress_ = world_.now();
  {
    const EndSignal signal;
    std::jthread([this] { work(); }).join();
  }
  if (error_) std::rethrow_exception(error_);
  return merged();
}

void RankRun::work() try {
  backend_.enter(own_);
  walk();
} catch (...) {
  error_ = std::current_exception();
}

void RankRun::walk() {
  const auto later = [this](Turn turn) { may_begin_.push_back(turn); };
  turns_.start(later);
  while (true) {
    while (!may_begin_.empty()) {
      const Turn turn = may_begin_.back();
      may_begin_.pop_back();
      begin(turn);
    }
    if (turns_.finished()) return;
    if (told_to_end) {
      throw EnvironmentError("mpirun ends all processes, as when one is lost: " + what_is_open());
    }
    const bool heard = messages_.progress([this](Message message) { arrived(std::move(message)); });
    if (!ready_.empty()) {
      do_first_ready();
    } else if (!heard && may_begin_.empty()) {
      wait();
      continue;
    }
    last_progress_ = world_.now();
  }
}

void RankRun::begin(Turn turn) {
  const bool wanted = work_.is_wanted(turn.task);
  if (parts_[turn.task()] == Part::does) {
    wanted && !senders(plan_, turn.task).empty() ? listen(turn) : make_ready(turn);
  } else if (wanted) {
    send(turn);
  } else {
    end(turn);
  }
}

void RankRun::make_ready(Turn turn) {
  span(turn).ready = now();
  ready_.push(turn);
}

void RankRun::do_first_ready() {
  const Turn turn = ready_.top();
  ready_.pop();
  const Seconds start = now();
  try {
    if (work_.is_wanted(turn.task)) do_task(turn);
  } catch (Error& error) {
    error.add_context(work_.name_of(turn));
    throw;
  } catch (const std::bad_alloc&) {
    throw EnvironmentError(work_.name_of(turn) + ": out of memory");
  }
  work_.let_go(turn.task);
  // The clocks agree to a fraction of a microsecond only, and a run begins at 0.
  const Seconds zero;
  Span& kept = span(turn);
  kept = {std::max(kept.ready, zero), std::max(start, zero), std::max(now(), zero)};
  end(turn);
}

void RankRun::end(Turn turn) {
  turns_.complete(turn, [this](Turn next) { may_begin_.push_back(next); });
}

void RankRun::arrived(Message message) {
  if (message.sent) {
    messages_.give_back(std::move(message.staging));
    return end(message.turn);
  }
  Heard& heard = heard_[message.turn];
  const std::vector<DeviceId> from = senders(plan_, message.turn.task);
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k] == message.peer) heard.parts[k] = std::move(message.staging);
  }
  if (--heard.missing == 0) make_ready(message.turn);
}

// The task that it could do next, or what it waits for.
std::string RankRun::what_is_open() const {
  if (ready_.empty()) return waits_for();
  return work_.name_of(ready_.top()) + " was next";
}

void RankRun::wait() {
  if (world_.now() - last_progress_ > patience_.value) {
    throw EnvironmentError(
        fmt::format("nothing happened for {:.0f} s: {}", patience_.value, waits_for()));
  }
  std::this_thread::yield();
}

std::string RankRun::waits_for() const {
  for (const Message& message : messages_.open()) {
    if (message.sent) continue;
    return fmt::format("{} waits for rank {}", work_.name_of(message.turn), message.peer());
  }
  for (const Message& message : messages_.open()) {
    return fmt::format("{} has not taken what rank {} sent", work_.name_of(message.turn),
                       world_.rank());
  }
  return fmt::format("rank {} waits for nothing it knows", world_.rank());
}

// Every rank knows what was kept anywhere.
Execution RankRun::merged() {
  merge_results(world_, work_, spans_);
  set_join_spans(plan_, spans_);
  return work_.result(std::move(spans_));
}

}  // namespace strata::mpi
