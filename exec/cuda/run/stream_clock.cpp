#include "exec/cuda/run/stream_clock.h"

#include <algorithm>

namespace strata::cuda {
namespace {

// The shortest answer of so many says best when it was given (Cristian, 1989).
constexpr int kAsked = 20;

Seconds last_end(const Plan& plan, std::span<const TaskId> tasks, std::size_t step,
                 std::span<const Span> spans) {
  Seconds last;
  for (TaskId id : tasks) last = std::max(last, spans[step * plan.size() + id()].end);
  return last;
}

Seconds last_start(const Plan& plan, const Group& group, std::size_t step,
                   std::span<const Span> spans) {
  Seconds last;
  for (TaskId id : group.tasks) last = std::max(last, spans[step * plan.size() + id()].start);
  return last;
}

}  // namespace

StreamClock::StreamClock(const Plan& plan, const TaskEvents& events, CudaBackend& backend,
                         const Wanted& wanted, const Ranks* ranks)
    : plan_(plan),
      events_(events),
      backend_(backend),
      ranks_(ranks),
      times_(wanted.steps * plan.size()),
      ends_(wanted.steps),
      marks_(backend.device_count()) {
  make_events(wanted);
}

void StreamClock::make_events(const Wanted& wanted) {
  const auto event = [](const Stream& stream) { return Event(stream.gpu(), EventKind::time); };
  for (std::uint32_t step = 0; step < wanted.steps; ++step) {
    if (wanted.played.contains(step)) {
      ends_[step].push_back({event(backend_.stream(0)), 0});
    } else if (!wanted.tasks) {
      for (std::uint32_t stream : events_.streams) {
        ends_[step].push_back({event(backend_.stream(stream)), stream});
      }
    } else {
      for (std::size_t i = 0; i < plan_.size(); ++i) {
        if (!is_here(TaskId(i))) continue;
        const Stream& stream = backend_.seat(plan_[TaskId(i)].device).stream();  // of its GPU
        std::optional<Times>& task = times({step, TaskId(i)});
        task.emplace(Times{std::nullopt, event(stream)});
        if (!events_.follows[i].valid()) task->start.emplace(event(stream));
      }
    }
  }
}

bool StreamClock::is_here(TaskId task) const {
  return plan_[task].kind != TaskKind::join && backend_.is_here(plan_[task].device);
}

void StreamClock::start(Turn turn, std::uint32_t stream) {
  auto& task = times(turn);
  if (task && task->start) task->start->record(backend_.stream(stream));
}

void StreamClock::end(Turn turn, std::uint32_t stream) {
  if (times(turn)) times(turn)->end.record(backend_.stream(stream));
}

void StreamClock::end_step(std::uint32_t step) {
  for (End& end : ends_[step]) end.event.record(backend_.stream(end.stream));
}

Seconds StreamClock::now() const {
  return ranks_ == nullptr ? cuda::now() : Seconds{ranks_->now()};
}

void StreamClock::begin() {
  for (std::size_t d = 0; d < marks_.size(); ++d) {
    if (backend_.is_here(DeviceId(d))) marks_[d].emplace(mark(DeviceId(d)));
  }
  begin_ = ranks_ == nullptr ? now() : Seconds{ranks_->of_lead(ranks_->now())};
}

StreamClock::Mark StreamClock::mark(DeviceId device) {
  Stream& stream = backend_.seat(device).stream();
  std::optional<Mark> best;
  Seconds shortest;
  for (int i = 0; i < kAsked; ++i) {
    Event event(stream.gpu(), EventKind::time);
    const Seconds asked = now();
    event.record(stream);
    stream.finish();
    const Seconds took = now() - asked;
    if (best && took >= shortest) continue;
    shortest = took;
    best.reset();
    best.emplace(Mark{std::move(event), asked + 0.5 * took});
  }
  return std::move(*best);
}

// Where clocks differ, what came first may seem to be before the run.
Seconds StreamClock::at(const Event& event, std::size_t device) const {
  const Mark& mark = *marks_[device];
  return std::max(Seconds{}, mark.at - begin_ + event.since(mark.event));
}

Seconds StreamClock::end_of(std::size_t step) const {
  Seconds last;
  for (const End& end : ends_[step]) {
    last = std::max(last, at(end.event, end.stream % backend_.device_count()));
  }
  return last;
}

Span StreamClock::measured(std::size_t step, TaskId task) const {
  const auto& own = times(step, task);
  if (!own) return {};
  const std::size_t device = plan_[task].device();
  const Event& start = own->start ? *own->start : times(step, events_.follows[task()])->end;
  Span span;
  span.start = at(start, device);
  span.end = std::max(span.start, at(own->end, device));
  return span;
}

std::vector<Span> StreamClock::measured() const {
  std::vector<Span> spans;
  spans.reserve(times_.size());
  for (std::size_t step = 0; step < ends_.size(); ++step) {
    const Seconds end = end_of(step);
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const bool whole = !ends_[step].empty() && is_here(TaskId(i));
      spans.push_back(whole ? Span{{}, end, end} : measured(step, TaskId(i)));
    }
  }
  return spans;
}

void derive_readiness(const Plan& plan, std::vector<Span>& spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::size_t step = i / plan.size();
    const TaskId task(i % plan.size());
    if (plan[task].kind == TaskKind::collective) {
      const Seconds all_here = last_start(plan, plan.groups()[plan[task].detail], step, spans);
      spans[i].start = std::clamp(all_here, spans[i].start, spans[i].end);
    }
    const Seconds ready =
        std::max(last_end(plan, plan.dependencies(task), step, spans),
                 step > 0 ? last_end(plan, plan.carried(task), step - 1, spans) : Seconds{});
    spans[i].ready = std::min(ready, spans[i].start);
  }
}

}  // namespace strata::cuda
