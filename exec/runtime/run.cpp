#include "exec/runtime/run.h"

#include <cassert>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "exec/runtime/spin.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata {
namespace {

constexpr auto kLookAtCancelled = std::chrono::milliseconds(50);

}  // namespace

Run::Run(Executor& executor, std::size_t steps, const BatchOf& batch_of,
         const std::atomic<bool>* cancelled)
    : plan_(executor.plan_),
      backend_(executor.backend_),
      work_(executor, steps, batch_of),
      cancelled_(cancelled),
      spans_(steps * plan_.size()),
      has_own_cores_(backend_.has_own_cores()),
      dispatcher_(plan_, steps),
      turns_(plan_.device_count()) {
  if (uses_copy_engines(plan_)) throw InternalError("these devices have no copy engines");
}

Execution Run::execute() {
  assert(!backend_.is_asynchronous());  // whose tasks somebody else must put in order
  clock_ = backend_.start_clock();
  dispatcher_.start([](Turn) {});
  work_on_all();
  if (error_) throw_error();
  throw_if_cancelled(cancelled_);
  return work_.result(std::move(spans_));
}

// Where a thread can't be had, those that were must not wait for it.
void Run::work_on_all() {
  std::vector<std::jthread> threads;
  threads.reserve(plan_.device_count());
  try {
    for (std::size_t d = 0; d < plan_.device_count(); ++d) {
      threads.emplace_back([this, d] { work(DeviceId(d)); });
    }
  } catch (const std::exception& error) {
    stop(std::make_exception_ptr(EnvironmentError(error.what())));
  }
}

// Nobody is at work any more, so what devices hold can be looked at.
void Run::throw_error() const {
  try {
    std::rethrow_exception(error_);
  } catch (const LossNotFinite& error) {
    work_.explain(error);
  }
}

void Run::work(DeviceId device) {
  std::optional<Turn> turn;
  const auto at = [&] { return turn ? work_.name_of(*turn) : backend_.device_name(device); };
  try {
    backend_.enter(device);
    while ((turn = next(device))) {
      const Seconds start = clock_->start(device, turn->task);
      work_.run(*turn);
      finish(*turn, start, clock_->end(device, turn->task));
    }
  } catch (Error& error) {
    error.add_context(at());
    stop(std::current_exception());
  } catch (const std::bad_alloc&) {
    stop(std::make_exception_ptr(EnvironmentError(at() + ": out of memory")));
  } catch (const std::exception& error) {
    stop(std::make_exception_ptr(InternalError(at() + ": " + error.what())));
  } catch (...) {
    stop(std::make_exception_ptr(InternalError(at() + ": an error of an unknown kind")));
  }
  clock_->rest(device);
}

bool Run::may_go_on(DeviceId device) const {
  return stopped_ || is_set(cancelled_) || dispatcher_.has_turn(device) ||
         dispatcher_.finished(device);
}

std::optional<Turn> Run::next(DeviceId device) {
  std::unique_lock lock(mutex_);
  while (!may_go_on(device)) {
    clock_->rest(device);
    if (!comes_soon(device, lock)) turns_[device()].wait_for(lock, kLookAtCancelled);
  }
  if (stopped_ || is_set(cancelled_)) return std::nullopt;
  return dispatcher_.take(device);
}

bool Run::comes_soon(DeviceId device, std::unique_lock<std::mutex>& lock) {
  if (!has_own_cores_) return false;
  const auto until = std::chrono::steady_clock::now() + kSoon;
  while (std::chrono::steady_clock::now() < until) {
    const std::uint32_t seen = finished_;
    lock.unlock();
    spin_while(finished_, seen, until);
    lock.lock();
    if (may_go_on(device)) return true;
  }
  return false;
}

void Run::finish(Turn turn, Seconds start, Seconds end) {
  const std::lock_guard lock(mutex_);
  span(turn).start = start;
  span(turn).end = end;
  dispatcher_.complete(turn, [&](Turn next) {
    const Task& task = plan_[next.task];
    span(next) = {end, end, end};
    if (task.stream != Stream::device) return;
    clock_->wake(task.device);
    turns_[task.device()].notify_one();
  });
  ++finished_;
  const DeviceId own = plan_[turn.task].device;
  if (dispatcher_.finished(own)) turns_[own()].notify_one();
}

void Run::stop(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  stopped_ = true;
  for (std::condition_variable& turn : turns_) turn.notify_all();
}

}  // namespace strata
