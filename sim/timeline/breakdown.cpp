#include "sim/timeline/breakdown.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/plan/work_kind.h"
#include "sim/timeline/causes.h"

namespace strata {
namespace {

// A step's time is the mean over the window but for rounding.
constexpr double kStepRounding = 1e-12;

// Of a compute task.
bool is_recomputation(const Task& task) {
  return task.again && is_forward(task.phase);
}

// A server's parameters, not the gradients that it gets.
bool brings_parameters(const Plan& plan, const Task& task) {
  if (task.kind != TaskKind::transfer) return false;
  const std::span<const Piece> pieces = plan.pieces(plan.transfers()[task.detail]);
  if (pieces.empty() || !pieces.front().target.valid()) return false;
  return plan[pieces.front().target.buffer].kind == BufferKind::parameters;
}

bool communicates(const Task& task) {
  return task.kind != TaskKind::compute && task.kind != TaskKind::join;
}

// `task` communicates.
Seconds& exposed_part(const Plan& plan, const Task& task, ExposedCommunication& exposed) {
  switch (work_kind(task)) {
    case WorkKind::transfer:
      return exposed.transfer;
    case WorkKind::statistics:
      return exposed.statistics;
    default:
      const bool gathers = task.kind == TaskKind::gather || brings_parameters(plan, task);
      return gathers ? exposed.gather : exposed.reduce;
  }
}

// Of the device that does the task.
Seconds& own_part(const Plan& plan, const Task& task, StepParts& parts) {
  if (communicates(task)) return exposed_part(plan, task, parts.exposed);
  if (work_kind(task) == WorkKind::update) return parts.optimizer;
  return is_recomputation(task) ? parts.recompute : parts.compute;
}

// Of a device that waits for the task of another.
Seconds& waiting_part(const Plan& plan, const Task& task, StepParts& parts) {
  return communicates(task) ? exposed_part(plan, task, parts.exposed) : parts.bubble;
}

constexpr std::array kExposed = {&ExposedCommunication::transfer, &ExposedCommunication::reduce,
                                 &ExposedCommunication::gather, &ExposedCommunication::statistics};

void add(const StepParts& parts, double weight, StepParts& sum) {
  sum.compute += weight * parts.compute;
  sum.recompute += weight * parts.recompute;
  sum.bubble += weight * parts.bubble;
  for (auto part : kExposed) sum.exposed.*part += weight * (parts.exposed.*part);
  sum.optimizer += weight * parts.optimizer;
}

class Division {
 public:
  /// `window`: of steps in the timeline or, with `step`, of so long steps in the long run.
  Division(const Plan& plan, const Timeline& timeline, const SteadyTime& window,
           std::optional<Seconds> step)
      : plan_(plan),
        timeline_(timeline),
        causes_(plan, timeline),
        window_(window),
        step_(step.value_or((window.to - window.from) / window.steps)),
        known_(timeline.spans().size()) {}

  StepParts of(DeviceId device) {
    waited_ = own_ = {};
    if (causes_.work(device).empty()) {
      waited_.bubble = window_.to - window_.from;
    } else {
      divide(causes_.work(device));
    }
    StepParts parts;
    add(own_, 1 / window_.steps, parts);
    add(waited_, 1 / window_.steps, parts);
    const bool longer = step_ > (1 + kStepRounding) * ((window_.to - window_.from) / window_.steps);
    return longer ? stretched(device, step_) : parts;
  }

 private:
  using End = Causes::End;

  const Span& span(StepTask of) const { return causes_.span(of); }

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
      follow_from_end(until);
    }
  }

  // Divides the time from `from` to the start of the task, while the device waits for it.
  void follow(StepTask at, Seconds from) {
    Seconds until = span(at).start;
    while (until > from) {
      const std::optional<StepTask> cause = cause_of(at);
      if (!cause || span(*cause).start > span(at).start) break;  // clocks that disagree
      at = *cause;
      until = cover(at, from, until);
    }
    waited_.bubble += counted(from, until);
  }

  // As if the next step waited for the last task of this one.
  void follow_from_end(Seconds from) {
    const StepTask last = last_of_window();
    cover(last, from, window_.to);
    follow(last, from);
  }

  // From `until` back to the start of the task, not beyond `from`.
  Seconds cover(StepTask task, Seconds from, Seconds until) {
    const Span& s = span(task);
    const Seconds end = std::clamp(s.end, from, until), start = std::clamp(s.start, from, end);
    waited_.bubble += counted(end, until);
    waiting_part(plan_, plan_[task.task], waited_) += counted(start, end);
    return start;
  }

  // The tasks of a group wait for one another.
  std::optional<StepTask> cause_of(StepTask at) {
    const Task& task = plan_[at.task];
    if (task.kind == TaskKind::collective) at.task = plan_.groups()[task.detail].tasks.front();
    std::uint64_t& known = known_[at.step * plan_.size() + at.task()];
    if (known == kUnknown) {
      const std::optional<Cause> cause = causes_.of(at);
      known = cause ? 2 + cause->of.step * plan_.size() + cause->of.task() : kNone;
    }
    if (known == kNone) return std::nullopt;
    return StepTask{static_cast<std::uint32_t>((known - 2) / plan_.size()),
                    TaskId((known - 2) % plan_.size())};
  }

  // Of the last step of the window the task that ends last.
  StepTask last_of_window() {
    if (last_) return *last_;
    const auto step = static_cast<std::uint32_t>(timeline_.steady_window().last);
    StepTask latest{step, TaskId(0)};
    for (std::size_t i = 1; i < plan_.size(); ++i) {
      const StepTask at{step, TaskId(i)};
      const bool later = span(at).end > span(latest).end;
      const bool tied = span(at).end == span(latest).end;
      if (later || (tied && causes_.precedes(at, latest))) latest = at;
    }
    last_ = latest;
    return latest;
  }

  // Where a step is longer in the long run than those of the window: its work in full, and the
  // waiting in the same proportions.
  StepParts stretched(DeviceId device, Seconds step) {
    StepParts parts;
    const auto last = static_cast<std::uint32_t>(timeline_.steady_window().last);
    for (const End& end : causes_.work(device)) {
      if (end.of.step != last) continue;
      own_part(plan_, plan_[end.of.task], parts) += span(end.of).duration();
    }
    const Seconds waits = std::max(Seconds{}, step - parts.total()), waited = waited_.total();
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
  StepParts own_, waited_;            // of the device, in the window
  std::vector<std::uint64_t> known_;  // causes, by step and task: 2 + where
  std::optional<StepTask> last_;
};

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

}  // namespace strata
