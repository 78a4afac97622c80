#include "sim/case/repeated_rounds.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sim/simulate/host_launches.h"

namespace strata {
namespace {

// Steps that take turns, or that end closer together than they can in the long run
// (Timeline::step_seconds()), do not tell a step of all rounds. Nor do those that only come to
// differ after some steps: after how many depends on the rounds of each.
bool steps_have_settled(const Timeline& timeline, double tolerance) {
  const Seconds step = timeline.step_seconds();
  const Timeline::Window before_last{0, timeline.steady_window().last};
  return std::ranges::all_of(timeline.step_intervals(before_last), [&](Seconds each) {
    return std::abs((each - step).value) <= tolerance * step.value;
  });
}

// Whether rounds repeat for hosts, too: one that falls behind its device in a period uses up what
// it was ahead by, and one that runs further ahead must have launched the whole step before the
// rounds that are repeated end: then nothing that follows waits for it, in whatever round. `begin`:
// of the step.
bool hosts_repeat(const Case& input, const Prediction& few, const RoundPeriod& period,
                  Seconds begin) {
  constexpr double kRounding = 1 + 1e-6;
  const Launches& launches = input.runtime.launches;
  if (!launches.any()) return true;
  const auto launched_within = [&](Rounds rounds, Seconds time) {
    const auto times = launch_times(few.plan, few.costs, launches, rounds);
    return std::ranges::all_of(times, [&](Seconds each) { return each <= kRounding * time; });
  };
  if (!launched_within(repeated_rounds(few.plan, period), period.time)) return false;
  return launches.wait_for_passes || launched_within({}, period.from + period.time - begin);
}

// What a device has to compute, or to send and to sum, and what it does of that meanwhile.
struct Work {
  double done = 0, due = 0;
};

// Of each device what it computes, and what it sends and sums.
class WorkOfDevices {
 public:
  explicit WorkOfDevices(const Plan& plan) : works_(2 * plan.device_count()) {}
  Work& of(const Task& task) {
    return works_[2 * task.device() + (task.kind == TaskKind::compute ? 0 : 1)];
  }
  // What is done meanwhile may differ from what is due by `tolerance`, of the time or of the tasks.
  bool is_done(Seconds time, double tolerance) const {
    constexpr double kTicks = 1e-7;  // of times in whole ticks
    constexpr double kPart = 1e-3;   // of a task: how exactly its part is known
    for (std::size_t i = 0; i < works_.size(); ++i) {
      const double most = i % 2 == 0 ? (tolerance + kTicks) * time.value
                                     : std::max(kPart, tolerance * works_[i].due);
      if (std::abs(works_[i].done - works_[i].due) > most) return false;
    }
    return true;
  }

 private:
  std::vector<Work> works_;
};

bool is_work(const Task& task, const Span& span) {
  return task.kind != TaskKind::join && span.end > span.start;
}

// A computation counts with its cost, however slow communication makes it; another task as one.
double whole(const Prediction& few, TaskId task) {
  return few.plan[task].kind == TaskKind::compute ? few.costs[task()].seconds.value : 1;
}

void add_done(const Prediction& few, TaskId task, const Span& span, const SteadyTime& time,
              WorkOfDevices& work) {
  const Task& its = few.plan[task];
  if (!is_work(its, span)) return;
  work.of(its).done += whole(few, task) * (time.within(span) / span.duration());
}

// Whether every device does in a period what so many rounds have: one that puts off gradients of
// parameters while it is busy, or whose communication falls behind, has more left, the more rounds
// there are.
bool devices_keep_up(const Prediction& few, const RoundPeriod& period, std::span<const Span> step,
                     double tolerance) {
  const Rounds repeated = repeated_rounds(few.plan, period);
  const SteadyTime time{period.from, period.from + period.time};
  WorkOfDevices work(few.plan);
  for (std::size_t i = 0; i < few.plan.size(); ++i) {
    const Task& task = few.plan[TaskId(i)];
    if (task.phase == Phase::update) continue;
    add_done(few, TaskId(i), step[i], time, work);
    if (!repeated.contain(task) || !is_work(task, step[i])) continue;
    work.of(task).due += whole(few, TaskId(i));
  }
  return work.is_done(period.time, tolerance);
}

// Whether every device computes in the steps that are told what these have: one that runs further
// ahead with each step does more.
bool devices_have_settled(const Prediction& few, double tolerance) {
  const Timeline& timeline = few.timeline;
  const SteadyTime time = timeline.steady_time();
  WorkOfDevices work(few.plan);
  for (std::size_t i = 0; i < few.plan.size(); ++i) {
    const TaskId task(i);
    if (few.plan[task].kind != TaskKind::compute) continue;
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      add_done(few, task, timeline.span(step, task), time, work);
    }
    if (is_work(few.plan[task], timeline.span(0, task)))
      work.of(few.plan[task]).due += time.steps * whole(few, task);
  }
  return work.is_done(time.to - time.from, tolerance);
}

}  // namespace

Rounds repeated_rounds(const Plan& plan, const RoundPeriod& period) {
  const std::uint32_t middle = (plan.rounds() - period.rounds) / 2;
  return {middle, middle + period.rounds};
}

std::optional<RoundPeriod> steady_period(const Case& input, const Prediction& few,
                                         std::uint32_t multiple, double tolerance) {
  if (!steps_have_settled(few.timeline, tolerance)) return std::nullopt;
  if (!devices_have_settled(few, tolerance)) return std::nullopt;
  // The first step found the devices idle: rounds repeat otherwise in those that are told.
  const std::size_t told = few.timeline.steady_window().last;
  const std::span<const Span> step = few.timeline.step(told);
  const auto period = round_period(few.plan, step, multiple, tolerance);
  const Seconds begin = told > 0 ? few.timeline.step_end(told - 1) : Seconds{};
  if (!period || !hosts_repeat(input, few, *period, begin)) return std::nullopt;
  return devices_keep_up(few, *period, step, tolerance) ? period : std::nullopt;
}

}  // namespace strata
