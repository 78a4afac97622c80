#include "sim/timeline/breakdown.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/plan/work_kind.h"
#include "sim/timeline/causes.h"
#include "sim/timeline/idle_time.h"

namespace strata {
namespace {

// A step's time is the mean over the window but for rounding.
constexpr double kStepRounding = 1e-12;

// Of a compute task.
bool is_recomputation(const Task& task) {
  return task.again && is_forward(task.phase);
}

// A server's parameters, not the gradients that it gets; or those that replicas share.
bool brings_parameters(const Plan& plan, const Task& task) {
  if (task.kind == TaskKind::collective) {
    return plan.groups()[task.detail].work == GroupWork::all_gather;
  }
  if (task.kind != TaskKind::transfer) return false;
  const std::span<const Piece> pieces = plan.pieces(plan.transfers()[task.detail]);
  if (pieces.empty() || !pieces.front().target.valid()) return false;
  return plan[pieces.front().target.buffer].kind == BufferKind::parameters;
}

bool communicates(const Task& task) {
  return task.kind != TaskKind::compute && task.kind != TaskKind::join;
}

WaitsFor reason_of(const Plan& plan, const Task& task) {
  if (!communicates(task)) return WaitsFor::computation;
  switch (work_kind(task)) {
    case WorkKind::transfer:
      return WaitsFor::transfer;
    case WorkKind::statistics:
      return WaitsFor::statistics;
    default:
      const bool gathers = task.kind == TaskKind::gather || brings_parameters(plan, task);
      return gathers ? WaitsFor::gather : WaitsFor::reduce;
  }
}

Seconds& part_of(WaitsFor reason, StepParts& parts) {
  switch (reason) {
    case WaitsFor::computation:
      return parts.bubble;
    case WaitsFor::transfer:
      return parts.exposed.transfer;
    case WaitsFor::reduce:
      return parts.exposed.reduce;
    case WaitsFor::gather:
      return parts.exposed.gather;
    case WaitsFor::launch:
      return parts.launch;
    case WaitsFor::statistics:
      break;
  }
  return parts.exposed.statistics;
}

// Of the device that does the task.
Seconds& own_part(const Plan& plan, const Task& task, StepParts& parts) {
  if (communicates(task)) return part_of(reason_of(plan, task), parts);
  if (work_kind(task) == WorkKind::update) return parts.optimizer;
  return is_recomputation(task) ? parts.recompute : parts.compute;
}

constexpr std::array kExposed = {&ExposedCommunication::transfer, &ExposedCommunication::reduce,
                                 &ExposedCommunication::gather, &ExposedCommunication::statistics};

void add(const StepParts& parts, double weight, StepParts& sum) {
  sum.compute += weight * parts.compute;
  sum.recompute += weight * parts.recompute;
  sum.bubble += weight * parts.bubble;
  for (auto part : kExposed) sum.exposed.*part += weight * (parts.exposed.*part);
  sum.optimizer += weight * parts.optimizer;
  sum.launch += weight * parts.launch;
}

class Division {
 public:
  /// `window`: of steps in the timeline or, with `step`, of so long steps in the long run. It ends
  /// with the step `last`, or with that of the steady window.
  Division(const Plan& plan, const Timeline& timeline, const SteadyTime& window,
           std::optional<Seconds> step, std::optional<std::size_t> last = std::nullopt)
      : plan_(plan),
        timeline_(timeline),
        causes_(plan, timeline),
        window_(window),
        step_(step.value_or((window.to - window.from) / window.steps)),
        last_step_(static_cast<std::uint32_t>(last.value_or(timeline.steady_window().last))),
        known_(timeline.spans().size()) {}

  /// Each gap between two tasks is followed from its end back.
  const std::vector<IdleTime>& waits(DeviceId device) {
    waits_.clear();
    own_ = {};
    if (causes_.work(device).empty()) {
      wait(window_.from, window_.to, WaitsFor::computation);
    } else {
      divide(causes_.work(device));
    }
    return waits_;
  }

  StepParts of(DeviceId device) {
    waited_ = {};
    for (const IdleTime& wait : waits(device)) {
      part_of(wait.reason, waited_) += counted(wait.from, wait.to);
    }
    StepParts parts;
    add(own_, 1 / window_.steps, parts);
    add(waited_, 1 / window_.steps, parts);
    const bool longer = step_ > (1 + kStepRounding) * ((window_.to - window_.from) / window_.steps);
    return longer ? stretched(device, step_) : parts;
  }

 private:
  using End = Causes::End;

  const Span& span(TaskOfStep of) const { return causes_.span(of); }

  // What of the time from `from` to `to` is in the window.
  Seconds counted(Seconds from, Seconds to) const { return window_.within({from, from, to}); }

  void divide(std::span<const End> work) {
    const auto ends_by = [](const End& end, Seconds at) { return end.at <= at; };
    auto at = std::lower_bound(work.begin(), work.end(), window_.from, ends_by);
    Seconds until = window_.from;  // divided so far
    for (; at != work.end() && span(at->of).start < window_.to; ++at) {
      const Span& s = span(at->of);
      if (s.start > until) follow(at->of, until);
      own_part(plan_, plan_[at->of.task], own_) += counted(std::max(s.start, until), s.end);
      until = std::max(until, s.end);
    }
    if (until >= window_.to) return;
    if (at != work.end()) {
      follow(at->of, until);
    } else {
      follow_from_end(work, until);
    }
  }

  // Divides the time from `from` to the start of the task, while the device waits for it.
  void follow(TaskOfStep at, Seconds from) {
    Seconds until = span(at).start;
    while (until > from) {
      const std::optional<TaskOfStep> cause = cause_of(at);
      if (!cause && span(at).ready > from) return wait(from, until, WaitsFor::launch);
      if (!cause || span(*cause).start > span(at).start) break;  // clocks that disagree
      const bool launched = span(at).ready > span(*cause).end;
      at = *cause;
      until = cover(at, from, until, launched ? WaitsFor::launch : WaitsFor::computation);
    }
    wait(from, until, WaitsFor::computation);
  }

  void wait(Seconds from, Seconds to, WaitsFor reason) {
    if (to > from) waits_.push_back({from, to, reason});
  }

  // As the device's first task of the step after the window would wait.
  void follow_from_end(std::span<const End> work, Seconds from) {
    const TaskOfStep last = last_before_next(work);
    cover(last, from, window_.to, WaitsFor::computation);
    follow(last, from);
  }

  // From `until` back to the start of the task, not beyond `from`. `after`: why nothing followed it
  // at once.
  Seconds cover(TaskOfStep task, Seconds from, Seconds until, WaitsFor after) {
    const Span& s = span(task);
    const Seconds end = std::clamp(s.end, from, until), start = std::clamp(s.start, from, end);
    wait(end, until, after);
    wait(start, end, reason_of(plan_, plan_[task.task]));
    return start;
  }

  // The tasks of a group wait for one another.
  std::optional<TaskOfStep> cause_of(TaskOfStep at) {
    const Task& task = plan_[at.task];
    if (task.kind == TaskKind::collective) at.task = plan_.groups()[task.detail].tasks.front();
    std::uint64_t& known = known_[at.step * plan_.size() + at.task()];
    if (known == kUnknown) {
      const std::optional<Cause> cause = causes_.of(at);
      known = cause ? 2 + cause->of.step * plan_.size() + cause->of.task() : kNone;
    }
    if (known == kNone) return std::nullopt;
    return TaskOfStep{static_cast<std::uint32_t>((known - 2) / plan_.size()),
                      TaskId((known - 2) % plan_.size())};
  }

  // What the device's first task of the next step waits for in the last step of the window: what
  // that of the last step waited for in the step before or, where there is none, what its first
  // cause will wait for when the step is done.
  TaskOfStep last_before_next(std::span<const End> work) {
    const auto first = std::find_if(work.begin(), work.end(),
                                    [this](const End& end) { return end.of.step == last_step_; });
    if (first == work.end()) return last_of_window();
    TaskOfStep at = first->of;
    while (const std::optional<TaskOfStep> cause = cause_of(at)) {
      if (cause->step != last_step_) return {last_step_, cause->task};
      at = *cause;
    }
    const TaskOfStep last = last_of_window();
    const std::optional<TaskOfStep> awaited = causes_.carried(at.task, last_step_);
    if (awaited && span(*awaited).end == span(last).end) return *awaited;
    const std::span<const End> before = causes_.work(plan_[at.task].device);
    return !before.empty() && before.back().at == span(last).end ? before.back().of : last;
  }

  // Of the last step of the window the task that ends last.
  TaskOfStep last_of_window() {
    if (last_) return *last_;
    const std::uint32_t step = last_step_;
    TaskOfStep latest{step, TaskId(0)};
    for (std::size_t i = 1; i < plan_.size(); ++i) {
      const TaskOfStep at{step, TaskId(i)};
      const bool later = span(at).end > span(latest).end;
      const bool tied = span(at).end == span(latest).end;
      if (later || (tied && causes_.precedes(at, latest))) latest = at;
    }
    last_ = latest;
    return latest;
  }

  // Where a step is longer in the long run than those of the window: its work in full, and the
  // waiting in the same proportions. Work that communication slows down differs from step to step:
  // in the last one it may be more than a step in the long run has.
  StepParts stretched(DeviceId device, Seconds step) {
    StepParts work;
    for (const End& end : causes_.work(device)) {
      if (end.of.step != last_step_) continue;
      own_part(plan_, plan_[end.of.task], work) += span(end.of).duration();
    }
    StepParts parts;
    add(work, std::min(1.0, step / work.total()), parts);
    const Seconds waits = step - parts.total(), waited = waited_.total();
    if (waited > Seconds{}) {
      add(waited_, waits / waited, parts);
    } else {
      parts.bubble += waits;
    }
    return parts;
  }

  static constexpr std::uint64_t kUnknown = 0, kNone = 1;

  const Plan& plan_;
  const Timeline& timeline_;
  Causes causes_;
  SteadyTime window_;
  Seconds step_;
  std::uint32_t last_step_;
  std::vector<IdleTime> waits_;       // of the device
  StepParts own_, waited_;            // of the device, in the window
  std::vector<std::uint64_t> known_;  // causes, by step and task: 2 + where
  std::optional<TaskOfStep> last_;
};

// In the order of time, neighbours of one reason together.
std::vector<IdleTime> in_order(std::vector<IdleTime> waits) {
  const auto later = [](const IdleTime& a, const IdleTime& b) { return a.from < b.from; };
  for (auto run = waits.begin(); run != waits.end();) {
    auto end = std::adjacent_find(run, waits.end(), later);
    if (end != waits.end()) ++end;
    std::reverse(run, end);
    run = end;
  }
  std::vector<IdleTime> joined;
  for (const IdleTime& wait : waits) {
    const bool goes_on =
        !joined.empty() && joined.back().to == wait.from && joined.back().reason == wait.reason;
    if (goes_on) joined.back().to = wait.to;
    if (!goes_on) joined.push_back(wait);
  }
  return joined;
}

}  // namespace

namespace {

Breakdown divided(const Plan& plan, Division division) {
  Breakdown result;
  result.devices.resize(plan.device_count());
  const double share = 1 / static_cast<double>(plan.device_count());
  for (std::size_t d = 0; d < plan.device_count(); ++d) {
    if (plan.representative(DeviceId(d)) == DeviceId(d)) {
      result.devices[d] = division.of(DeviceId(d));
    }
  }
  for (std::size_t d = 0; d < plan.device_count(); ++d) {
    result.devices[d] = result.devices[plan.representative(DeviceId(d))()];
    add(result.devices[d], share, result.mean);
  }
  return result;
}

}  // namespace

Breakdown breakdown(const Plan& plan, const Timeline& timeline) {
  if (timeline.steps() == 0) return {{}, std::vector<StepParts>(plan.device_count())};
  return divided(plan, {plan, timeline, timeline.steady_time(), timeline.step_seconds()});
}

Breakdown breakdown(const Plan& plan, const Timeline& timeline, const SteadyTime& window) {
  return divided(plan, {plan, timeline, window, std::nullopt});
}

void add(const Breakdown& other, double times, Breakdown& to) {
  add(other.mean, times, to.mean);
  for (std::size_t d = 0; d < to.devices.size(); ++d) add(other.devices[d], times, to.devices[d]);
}

std::vector<std::vector<IdleTime>> idle_times(const Plan& plan, const Timeline& timeline) {
  std::vector<std::vector<IdleTime>> result(plan.device_count());
  if (timeline.steps() == 0) return result;
  const SteadyTime all{Seconds{}, timeline.makespan(), static_cast<double>(timeline.steps())};
  Division division(plan, timeline, all, std::nullopt, timeline.steps() - 1);
  for (std::size_t d = 0; d < plan.device_count(); ++d) {
    if (plan.representative(DeviceId(d)) != DeviceId(d)) continue;
    result[d] = in_order(division.waits(DeviceId(d)));
  }
  return result;
}

}  // namespace strata
