#include "sim/timeline/causes.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace strata {
namespace {

bool ends_earlier(const Causes::End& a, const Causes::End& b) {
  return a.at < b.at;
}

void sort_by_end(std::vector<Causes::End>& ends) {
  if (!std::is_sorted(ends.begin(), ends.end(), ends_earlier)) {
    std::stable_sort(ends.begin(), ends.end(), ends_earlier);
  }
}

}  // namespace

Causes::Causes(const Plan& plan, const Timeline& timeline)
    : plan_(plan), timeline_(timeline), ends_(plan.device_count()) {
  index_work();
  index_exchanges();
}

// Which task ends when on each device.
void Causes::index_work() {
  std::vector<std::size_t> counts(ends_.size());
  for (const Task& task : plan_.tasks()) {
    if (task.stream == Stream::device) ++counts[task.device()];
  }
  for (std::size_t d = 0; d < ends_.size(); ++d) ends_[d].reserve(counts[d] * timeline_.steps());
  for (std::uint32_t step = 0; step < timeline_.steps(); ++step) {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const Task& task = plan_[TaskId(i)];
      if (task.stream != Stream::device) continue;
      const Span& s = timeline_.span(step, TaskId(i));
      if (s.end > s.start) ends_[task.device()].push_back({s.end, {step, TaskId(i)}});
    }
  }
  for (auto& ends : ends_) sort_by_end(ends);
}

std::optional<Cause> Causes::of(TaskOfStep at) const {
  const Span& s = span(at);
  if (s.start.value == 0) return std::nullopt;
  const Task& task = plan_[at.task];
  if (s.start > s.ready && task.stream == Stream::device) {
    const auto& ends = ends_[task.device()];
    const auto after = std::upper_bound(ends.begin(), ends.end(), End{s.start, {}}, ends_earlier);
    if (after != ends.begin() && std::prev(after)->at == s.start) {
      return Cause{std::prev(after)->of, Bound::resource};
    }
  }
  const std::optional<TaskOfStep> latest = latest_dependency(at);
  if (latest && span(*latest).end == s.start) return Cause{*latest, Bound::dependency};
  if (const auto turn = turn_before(at)) return Cause{*turn, Bound::resource};
  if (latest) return Cause{*latest, Bound::dependency};
  return std::nullopt;
}

bool Causes::precedes(TaskOfStep a, TaskOfStep b) const {
  const auto key = [this](TaskOfStep of) {
    const Task& task = plan_[of.task];
    return std::tuple(span(of).start, task.kind, task.phase, task.layer, task.round);
  };
  return key(a) < key(b);
}

// Without overlap a device works or moves, one after the other, so a task may wait for one that it
// does not depend on: which ended when it began, on a device of both.
std::optional<TaskOfStep> Causes::turn_before(TaskOfStep of) const {
  if (turns_.empty()) index_turns();
  const Seconds start = span(of).start;
  std::optional<TaskOfStep> found;
  for (DeviceId device : devices_of(of.task)) {
    const auto& turns = turns_[device()];
    auto at = std::lower_bound(turns.begin(), turns.end(), End{start, {}}, ends_earlier);
    for (; at != turns.end() && at->at == start; ++at) {
      if (!found || precedes(at->of, *found)) found = at->of;
    }
  }
  return found;
}

// The tasks of a group end together, each on its own device.
void Causes::index_turns() const {
  turns_.resize(ends_.size());
  for (std::uint32_t step = 0; step < timeline_.steps(); ++step) {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const TaskOfStep of{step, TaskId(i)};
      const Span& s = span(of);
      if (s.end <= s.start) continue;
      if (plan_[of.task].kind == TaskKind::collective) {
        turns_[plan_[of.task].device()].push_back({s.end, of});
      } else {
        for (DeviceId device : devices_of(of.task)) turns_[device()].push_back({s.end, of});
      }
    }
  }
  for (auto& turns : turns_) sort_by_end(turns);
}

// Which work at the task, or wait while it moves something.
std::vector<DeviceId> Causes::devices_of(TaskId id) const {
  const Task& task = plan_[id];
  std::vector<DeviceId> devices = {task.device};
  if (task.kind == TaskKind::transfer) {
    for (const Piece& piece : plan_.pieces(plan_.transfers()[task.detail])) {
      devices.push_back(plan_.representative(piece.from));
    }
  } else if (task.kind == TaskKind::collective) {
    for (TaskId peer : plan_.groups()[task.detail].tasks) devices.push_back(plan_[peer].device);
  }
  return devices;
}

void Causes::consider(TaskOfStep before, std::optional<TaskOfStep>& latest) const {
  const bool later = !latest || span(before).end > span(*latest).end;
  const bool tied = !later && span(before).end == span(*latest).end;
  if (later || (tied && precedes(before, *latest))) latest = before;
}

void Causes::index_exchanges() {
  exchanges_.resize(plan_.exchanges().size());
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Exchange* const exchange = plan_.exchange_of(plan_[TaskId(i)]);
    if (exchange == nullptr) continue;
    exchanges_[static_cast<std::size_t>(exchange - plan_.exchanges().data())].push_back(TaskId(i));
  }
}

// A collective waits for its peers' dependencies too, and so do the transfers of an exchange.
std::span<const TaskId> Causes::waiting_with(const TaskId& id) const {
  const Task& task = plan_[id];
  if (const Exchange* const exchange = plan_.exchange_of(task)) {
    return exchanges_[static_cast<std::size_t>(exchange - plan_.exchanges().data())];
  }
  if (task.kind != TaskKind::collective) return {&id, 1};
  return plan_.groups()[task.detail].tasks;
}

std::optional<TaskOfStep> Causes::carried(TaskId task, std::uint32_t step) const {
  std::optional<TaskOfStep> latest;
  for (TaskId peer : waiting_with(task)) {
    for (TaskId before : plan_.carried(peer)) consider({step, before}, latest);
  }
  return latest;
}

// The dependency that ended last.
std::optional<TaskOfStep> Causes::latest_dependency(TaskOfStep of) const {
  std::optional<TaskOfStep> latest;
  if (of.step > 0) latest = carried(of.task, of.step - 1);
  for (TaskId peer : waiting_with(of.task)) {
    for (TaskId before : plan_.dependencies(peer)) consider({of.step, before}, latest);
  }
  return latest;
}

}  // namespace strata
