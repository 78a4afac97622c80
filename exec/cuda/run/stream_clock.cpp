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

StreamClock::StreamClock(const Plan& plan, CudaBackend& backend, std::size_t steps,
                         const Ranks* ranks, StepRange played)
    : plan_(plan),
      backend_(backend),
      ranks_(ranks),
      times_(steps * plan.size()),
      ends_(steps),
      marks_(backend.device_count()) {
  for (std::size_t step = played.begin; step < played.end; ++step) {
    ends_[step].emplace(backend.stream(0).gpu(), EventKind::time);
  }
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const DeviceId device = plan[TaskId(i % plan.size())].device;
    if (!backend.is_here(device) || ends_[i / plan.size()]) continue;
    const int gpu = backend.seat(device).gpu();
    times_[i].emplace(Times{Event(gpu, EventKind::time), Event(gpu, EventKind::time)});
  }
}

void StreamClock::start(Turn turn, std::uint32_t stream) {
  if (times(turn)) times(turn)->start.record(backend_.stream(stream));
}

void StreamClock::end(Turn turn, std::uint32_t stream) {
  if (times(turn)) times(turn)->end.record(backend_.stream(stream));
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
Span StreamClock::measured(std::size_t step, TaskId task) const {
  const auto& times = times_[step * plan_.size() + task()];
  const auto& end = ends_[step];
  if (!times && !end) return {};
  const Mark& mark = *marks_[times ? plan_[task].device() : 0];
  const auto at = [&](const Event& event) { return mark.at - begin_ + event.since(mark.event); };
  Span span;
  span.start = std::max(Seconds{}, at(times ? times->start : *end));
  span.end = std::max(span.start, at(times ? times->end : *end));
  return span;
}

std::vector<Span> StreamClock::measured() const {
  std::vector<Span> spans;
  spans.reserve(times_.size());
  for (std::size_t i = 0; i < times_.size(); ++i) {
    spans.push_back(measured(i / plan_.size(), TaskId(i % plan_.size())));
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
