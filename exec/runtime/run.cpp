#include "exec/runtime/run.h"

#include <chrono>
#include <thread>
#include <variant>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata {
namespace {

constexpr auto kLookAtCancelled = std::chrono::milliseconds(50);

}  // namespace

Run::Run(Executor& executor, std::size_t steps, const BatchOf& batch_of,
         const std::atomic<bool>* cancelled)
    : executor_(executor),
      graph_(executor.graph_),
      plan_(executor.plan_),
      program_(executor.program_),
      backend_(executor.backend_),
      steps_(steps),
      cancelled_(cancelled),
      loss_index_(program_.kernels().size()),
      users_(program_.buffers().size()),
      moved_(3),
      spans_(steps * plan_.size()),
      dispatcher_(plan_, steps),
      turns_(plan_.device_count()) {
  for (std::size_t step = 0; step < steps; ++step) {
    const std::uint64_t number = executor.steps_done_ + step;
    batches_.push_back(batch_of(number));
    contexts_.push_back({number, executor.options_.learning_rate, batches_.back().labels});
  }
  for (std::size_t k = 0; k < loss_index_.size(); ++k) {
    const Layer& layer = *program_.kernels()[k].spec;
    if (!std::holds_alternative<SoftmaxCrossEntropy>(layer.op)) continue;
    loss_index_[k] = loss_shards_++;
  }
  std::size_t inputs = 0;
  for (const Layer& layer : graph_.layers()) {
    input_ordinals_.push_back(inputs);
    inputs += std::holds_alternative<Input>(layer.op);
  }
  losses_.resize(steps * loss_shards_);
}

Seconds Run::now() const {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()};
}

Execution Run::execute() {
  begin_ = std::chrono::steady_clock::now();
  dispatcher_.start([](Turn) {});
  {
    std::vector<std::jthread> threads;
    for (std::size_t d = 0; d < plan_.device_count(); ++d) {
      threads.emplace_back([this, d] { work(DeviceId(d)); });
    }
  }
  if (error_) std::rethrow_exception(error_);
  throw_if_cancelled(cancelled_);
  return result();
}

void Run::work(DeviceId device) {
  std::string at = backend_.device_name(device);
  try {
    backend_.enter(device);
    while (const std::optional<Turn> turn = next(device)) {
      at = name_of(*turn);
      const Seconds start = now();
      run_task(*turn);
      finish(*turn, start, now());
    }
  } catch (Error& error) {
    error.add_context(at);
    stop(std::current_exception());
  } catch (const std::bad_alloc&) {
    stop(std::make_exception_ptr(EnvironmentError(at + ": out of memory")));
  } catch (...) {
    stop(std::current_exception());
  }
}

bool Run::may_go_on(DeviceId device) const {
  return stopped_ || is_set(cancelled_) || dispatcher_.has_turn(device) ||
         dispatcher_.finished(device);
}

std::optional<Turn> Run::next(DeviceId device) {
  std::unique_lock lock(mutex_);
  while (!may_go_on(device)) turns_[device()].wait_for(lock, kLookAtCancelled);
  if (stopped_ || is_set(cancelled_)) return std::nullopt;
  return dispatcher_.take(device);
}

void Run::finish(Turn turn, Seconds start, Seconds end) {
  const std::lock_guard lock(mutex_);
  span(turn).start = start;
  span(turn).end = end;
  dispatcher_.complete(turn, [&](Turn next) {
    const Task& task = plan_[next.task];
    span(next) = {end, end, end};
    if (task.stream == Stream::device) turns_[task.device()].notify_one();
  });
  const DeviceId own = plan_[turn.task].device;
  if (dispatcher_.finished(own)) turns_[own()].notify_one();
}

void Run::stop(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  stopped_ = true;
  for (std::condition_variable& turn : turns_) turn.notify_all();
}

std::string Run::name_of(Turn turn) const {
  const Task& task = plan_[turn.task];
  const char* what = task.kind == TaskKind::compute    ? "shard"
                     : task.kind == TaskKind::transfer ? "transfer to shard"
                     : task.kind == TaskKind::reduce   ? "sum over replicas, shard"
                                                       : "gather from replicas, shard";
  return fmt::format("step {}: layer {}: {}, {} {} on {}", contexts_[turn.step].step,
                     graph_[task.layer].name, name(task.phase), what, task.shard,
                     backend_.device_name(task.device));
}

Execution Run::result() {
  Execution result;
  result.timeline = Timeline(plan_.size(), std::move(spans_));
  for (std::size_t step = 0; step < steps_ && loss_shards_ > 0; ++step) {
    result.losses.push_back(0);
    result.correct.push_back(0);
    for (std::size_t k = 0; k < loss_shards_; ++k) {
      result.losses.back() += losses_[step * loss_shards_ + k].loss;
      result.correct.back() += losses_[step * loss_shards_ + k].correct;
    }
  }
  result.moved = {{moved_[0]}, {moved_[1]}, {moved_[2]}};
  return result;
}

}  // namespace strata
