#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/engine/dependencies.h"
#include "sim/engine/engine.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/fair_sharing.h"
#include "sim/engine/repetition.h"

namespace strata {
namespace {

// A ready compute activity in its device's queue.
struct Waiting {
  std::uint64_t priority;
  Tick ready;
  std::uint32_t activity;

  // std::push_heap keeps the greatest in front: the one to run next.
  bool operator<(const Waiting& b) const {
    return std::tie(b.priority, b.ready, b.activity) < std::tie(priority, ready, activity);
  }
};

struct DeviceState {
  std::vector<Waiting> queue;
  bool busy = false;
  bool woken = false;
};

// Where flows slow devices: what a device does, and until when as things stand.
struct SlowedDevice {
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t running = kNothing;
  std::size_t flows = 0;  // that slow it
  double left = 0;        // ticks of work at full speed, at `since`
  Tick since = 0, end = 0;
};

class Simulation {
 public:
  Simulation(const Workload& workload, const SimulateOptions& options)
      : workload_(workload),
        dependencies_(workload),
        devices_(workload.device_count()),
        sharing_(workload, options),
        period_(options.period),
        repetition_(options),
        cancelled_(options.cancelled),
        slowed_(workload.slowed_share() > 0 ? workload.device_count() : 0) {
    times_.ready.resize(workload.size());
    times_.start.resize(workload.size());
    times_.end.resize(workload.size());
  }

  ActivityTimes run(EngineStatistics* statistics);
  ActivityTimes periods_that_tell();
  void complete_second_period();
  bool finished() const { return repeats_ || finished_count_ == workload_.size(); }

 private:
  void look_whether_cancelled();
  void release_sources();
  void settle();
  void release_successors();
  void release(std::uint32_t a);
  void become_ready(std::uint32_t a);
  void enqueue(ActivityId id);
  void move(std::uint32_t a);
  bool moves_bytes(ActivityId flow) const;
  void begin(std::uint32_t a);
  void finish(std::uint32_t a);
  void fire(const Timer& timer);
  void wake(std::size_t device);
  void run_free_devices();
  void run_next(DeviceState& device);
  double speed(const SlowedDevice& device) const;
  void start_again(SlowedDevice& device);
  void run_slowed(std::uint32_t a, DeviceId on);
  void change_speeds(ActivityId flow, bool moves);
  bool is_stale(const Timer& timer) const;
  void start_timer(std::uint32_t a, Tick duration, TimerKind kind);
  void schedule(const Timer& timer);
  [[noreturn]] void too_late(ActivityId id) const;

  const Workload& workload_;
  Dependencies dependencies_;
  ActivityTimes times_;
  Tick now_ = 0;
  TimerQueue timers_;
  std::vector<DeviceState> devices_;
  std::vector<std::uint32_t> woken_;  // devices that may be able to start something
  std::vector<std::uint32_t> choosing_;
  std::vector<std::uint32_t> finished_;  // whose successors do not know yet
  std::size_t finished_count_ = 0;
  FairSharing sharing_;
  const std::size_t period_;
  Repetition repetition_;
  bool repeats_ = false;
  const std::atomic<bool>* cancelled_;
  std::uint64_t looks_ = 0;
  std::vector<SlowedDevice> slowed_;  // by device; none where no flow slows any
};

ActivityTimes Simulation::run(EngineStatistics* statistics) {
  release_sources();
  for (;;) {
    look_whether_cancelled();
    settle();
    if (repeats_ || repetition_.holds(now_)) return periods_that_tell();
    if (finished_count_ == workload_.size()) break;  // timers that no longer count may be left
    sharing_.solve(now_);
    const Tick next = std::min(timers_.next(), sharing_.next_completion());
    if (next == kNever) break;
    if (statistics != nullptr && next > now_) ++statistics->events;
    now_ = next;
  }
  if (sharing_.moving()) too_late(sharing_.any_moving());
  times_.makespan = now_;
  return std::move(times_);
}

// An event takes about a microsecond.
void Simulation::look_whether_cancelled() {
  constexpr std::uint64_t kEvents = 1024;
  if (looks_++ % kEvents == 0) throw_if_cancelled(cancelled_);
}

// Those of the first period and, where the second is not like it, of that.
ActivityTimes Simulation::periods_that_tell() {
  repeats_ = true;
  times_.period = period_;
  times_.makespan = repetition_.end_of_first();
  const std::size_t told = (repetition_.differed() ? 2 : 1) * period_;
  if (told > period_) complete_second_period();
  for (std::vector<Tick>* times : {&times_.ready, &times_.start, &times_.end}) {
    times->resize(told);
  }
  return std::move(times_);
}

// What has not begun or ended by now will do so as long after what the first period did as that
// took. Nothing of the second period begins at 0.
void Simulation::complete_second_period() {
  std::vector<bool> begun(period_);
  for (std::size_t k = 0; k < period_; ++k) {
    const std::size_t a = period_ + k;
    begun[k] = times_.start[a] > 0;
    if (times_.makespan > kMaxTick - times_.end[k]) too_late(ActivityId(a));
    if (!begun[k]) times_.start[a] = times_.start[k] + times_.makespan;
    if (!begun[k]) times_.ready[a] = 0;
    if (times_.end[a] == 0) times_.end[a] = times_.end[k] + times_.makespan;
  }
  workload_.for_each_dependency([&](ActivityId later, ActivityId earlier) {
    if (later() < period_ || later() >= 2 * period_ || begun[later() - period_]) return;
    times_.ready[later()] = std::max(times_.ready[later()], times_.end[earlier()]);
  });
}

void Simulation::release_sources() {
  for (std::uint32_t a = 0; a < workload_.size(); ++a) {
    if (dependencies_.waiting(a) == 0) release(a);
  }
}

// Everything that happens now, until nothing more does: ends, readiness, then free devices choose.
void Simulation::settle() {
  while (timers_.next() == now_) fire(timers_.pop());
  while (sharing_.next_completion() == now_) finish(sharing_.complete().value);
  do {
    release_successors();
    if (repeats_) return;
    run_free_devices();
  } while (!finished_.empty());
}

void Simulation::release_successors() {
  while (!finished_.empty()) {
    repeats_ = repetition_.ended_alone();
    if (repeats_) return;
    const std::uint32_t earlier = finished_.back();
    finished_.pop_back();
    for (std::uint32_t later : dependencies_.successors(earlier)) {
      if (dependencies_.release(later) == 0) release(later);
    }
  }
}

void Simulation::release(std::uint32_t a) {
  const ActivityId id{a};
  const Tick delay = workload_.delay(id);
  if (delay > kMaxTick - now_) too_late(id);
  const Tick ready = std::max(now_ + delay, workload_.not_before(id));
  times_.ready[a] = ready;
  if (ready > now_) return timers_.push({ready, a, TimerKind::ready});
  become_ready(a);
}

void Simulation::become_ready(std::uint32_t a) {
  const ActivityId id{a};
  switch (workload_.kind(id)) {
    case ActivityKind::compute:
      return enqueue(id);
    case ActivityKind::flow:
      begin(a);
      return start_timer(a, workload_.latency(id), TimerKind::moves);
    case ActivityKind::event:
      begin(a);
      return start_timer(a, workload_.duration(id), TimerKind::done);
  }
}

void Simulation::begin(std::uint32_t a) {
  times_.start[a] = now_;
  repetition_.begin(a, times_);
}

void Simulation::enqueue(ActivityId id) {
  std::vector<Waiting>& queue = devices_[workload_.device(id)()].queue;
  queue.push_back({workload_.priority(id), now_, id.value});
  std::push_heap(queue.begin(), queue.end());
  wake(workload_.device(id)());
}

void Simulation::start_timer(std::uint32_t a, Tick duration, TimerKind kind) {
  if (duration > kMaxTick - now_) too_late(ActivityId{a});
  const Timer timer{now_ + duration, a, kind};
  duration == 0 ? fire(timer) : schedule(timer);
}

// Asks the memory for what the releases after the activity will touch, which then comes while other
// events are handled.
void Simulation::schedule(const Timer& timer) {
  timers_.push(timer);
  for (std::uint32_t later : dependencies_.successors(timer.activity)) {
    dependencies_.prefetch(later);
    workload_.prefetch(ActivityId{later});
    for (auto* times : {&times_.ready, &times_.start, &times_.end}) {
      __builtin_prefetch(times->data() + later, 1);
    }
  }
}

void Simulation::fire(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::ready:
      return become_ready(timer.activity);
    case TimerKind::moves:
      return move(timer.activity);
    case TimerKind::done:
      if (!slowed_.empty() && is_stale(timer)) return;
      return finish(timer.activity);
  }
}

void Simulation::move(std::uint32_t a) {
  const ActivityId id{a};
  if (!moves_bytes(id)) return finish(a);
  sharing_.start(id);
  if (!slowed_.empty()) change_speeds(id, true);
}

bool Simulation::moves_bytes(ActivityId flow) const {
  return workload_.bytes(flow) > 0 && !workload_.demands(flow).empty();
}

void Simulation::finish(std::uint32_t a) {
  times_.end[a] = now_;
  finished_.push_back(a);
  ++finished_count_;
  repetition_.end(a, times_);
  const ActivityId id{a};
  if (!slowed_.empty() && workload_.kind(id) == ActivityKind::flow && moves_bytes(id)) {
    change_speeds(id, false);
  }
  if (workload_.kind(id) != ActivityKind::compute) return;
  const std::size_t device = workload_.device(id)();
  devices_[device].busy = false;
  if (!slowed_.empty()) slowed_[device].running = SlowedDevice::kNothing;
  wake(device);
}

double Simulation::speed(const SlowedDevice& device) const {
  return device.flows > 0 ? 1 - workload_.slowed_share() : 1;
}

void Simulation::run_slowed(std::uint32_t a, DeviceId on) {
  SlowedDevice& device = slowed_[on()];
  device.running = a;
  device.left = static_cast<double>(workload_.duration(ActivityId{a}));
  device.since = now_;
  start_again(device);
}

// With what is left of its work, at the speed that it has now.
void Simulation::start_again(SlowedDevice& device) {
  const double ticks = std::round(device.left / speed(device));
  if (ticks > static_cast<double>(kMaxTick - now_)) too_late(ActivityId{device.running});
  device.end = now_ + static_cast<Tick>(ticks);
  start_timer(device.running, static_cast<Tick>(ticks), TimerKind::done);
}

// `moves`: the flow begins to move bytes, or it has ended.
void Simulation::change_speeds(ActivityId flow, bool moves) {
  for (DeviceId on : workload_.slows(flow)) {
    SlowedDevice& device = slowed_[on()];
    const double before = speed(device);
    device.flows = moves ? device.flows + 1 : device.flows - 1;
    if (speed(device) == before || device.running == SlowedDevice::kNothing) continue;
    if (device.end == now_) continue;  // it ends with all that happens now
    device.left -= static_cast<double>(now_ - device.since) * before;
    device.left = std::max(device.left, 0.0);
    device.since = now_;
    start_again(device);
  }
}

// The device has another end by now, or has ended it already.
bool Simulation::is_stale(const Timer& timer) const {
  const ActivityId id{timer.activity};
  if (workload_.kind(id) != ActivityKind::compute) return false;
  const SlowedDevice& device = slowed_[workload_.device(id)()];
  return device.running != timer.activity || device.end != timer.at;
}

void Simulation::wake(std::size_t device) {
  DeviceState& state = devices_[device];
  if (state.woken || state.busy) return;
  state.woken = true;
  woken_.push_back(static_cast<std::uint32_t>(device));
}

// One activity for each; one without duration wakes its device again, but what its end releases
// comes first.
void Simulation::run_free_devices() {
  choosing_.swap(woken_);
  for (std::uint32_t device : choosing_) {
    devices_[device].woken = false;
    run_next(devices_[device]);
  }
  choosing_.clear();
}

void Simulation::run_next(DeviceState& device) {
  if (device.queue.empty()) return;
  std::pop_heap(device.queue.begin(), device.queue.end());
  const std::uint32_t a = device.queue.back().activity;
  device.queue.pop_back();
  device.busy = true;
  begin(a);
  if (!slowed_.empty()) return run_slowed(a, workload_.device(ActivityId{a}));
  start_timer(a, workload_.duration(ActivityId{a}), TimerKind::done);
}

void Simulation::too_late(ActivityId id) const {
  throw ClockEnds(id);
}

[[noreturn]] void report_cycle(const Workload& workload) {
  const std::vector<ActivityId> cycle = find_cycle(workload);
  std::string text = fmt::format("{}", cycle.front()());
  for (std::size_t i = 1; i < std::min<std::size_t>(cycle.size(), 16); ++i) {
    text += fmt::format(" -> {}", cycle[i]());
  }
  if (cycle.size() > 16) text += " -> ...";
  throw InputError(fmt::format("activities wait for one another: {} -> {}", text, cycle.front()()));
}

}  // namespace

ClockEnds::ClockEnds(ActivityId id)
    : InputError(fmt::format("activity {}{}", id(), clock_ends_text())), activity(id) {}

std::string clock_ends_text() {
  return fmt::format(" would end after {:g} s, where the clock ends", to_seconds(kMaxTick).value);
}

// What begins and ends a period later is ready when the last that it waits for has ended, which
// may be before the period begins.
ActivityTimes all_periods(const Workload& workload, const ActivityTimes& first) {
  const std::size_t period = first.period, told = first.end.size();
  ActivityTimes times = first;
  for (std::size_t a = told; a < workload.size(); ++a) {
    if (first.makespan > kMaxTick - times.end[a - period]) throw ClockEnds(ActivityId(a));
    times.ready.push_back(0);
    times.start.push_back(times.start[a - period] + first.makespan);
    times.end.push_back(times.end[a - period] + first.makespan);
  }
  workload.for_each_dependency([&](ActivityId later, ActivityId earlier) {
    if (later() < told) return;
    times.ready[later()] = std::max(times.ready[later()], times.end[earlier()]);
  });
  times.makespan = *std::max_element(times.end.begin(), times.end.end());
  times.period = 0;
  return times;
}

ActivityTimes simulate(const Workload& workload, const SimulateOptions& options) {
  Simulation simulation(workload, options);
  ActivityTimes times = simulation.run(options.statistics);
  if (!simulation.finished()) report_cycle(workload);
  return times;
}

}  // namespace strata
