#include "sim/exporters/chakra/waits.h"

#include <algorithm>

#include "sim/plan/work_kind.h"

namespace strata {

Waits::Waits(const Plan& plan) : plan_(plan), exchanges_(plan.exchanges().size()) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Exchange* const exchange = plan.exchange_of(plan[TaskId(i)]);
    if (exchange == nullptr) continue;
    exchanges_[static_cast<std::size_t>(exchange - plan.exchanges().data())].emplace_back(i);
  }
}

// A join happens nowhere: what it waits for stands in its place.
void Waits::add(StepTask before, std::vector<StepTask>& found) const {
  if (plan_[before.task].kind != TaskKind::join) {
    found.push_back(before);
    return;
  }
  for (TaskId earlier : plan_.dependencies(before.task)) add({before.step, earlier}, found);
}

std::vector<StepTask> Waits::all(StepTask task) const {
  std::vector<StepTask> found;
  for (TaskId before : plan_.dependencies(task.task)) add({task.step, before}, found);
  if (task.step == 0) return found;
  for (TaskId before : plan_.carried(task.task)) add({task.step - 1, before}, found);
  return found;
}

// Each device of an exchange has one node, which is no sender's.
bool Waits::is_sender(const Task& transfer, DeviceId device) const {
  if (transfer.kind != TaskKind::transfer || plan_.exchange_of(transfer) != nullptr) return false;
  const auto pieces = plan_.pieces(plan_.transfers()[transfer.detail]);
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const Piece& piece) { return piece.from == device; });
}

bool Waits::happens_on(DeviceId device, const Task& task) const {
  return task.device == device || is_sender(task, device);
}

// What ends together with the task on each device of its group or exchange; none of others.
std::span<const TaskId> Waits::parts(const Task& task) const {
  if (const Exchange* exchange = plan_.exchange_of(task)) {
    return exchanges_[static_cast<std::size_t>(exchange - plan_.exchanges().data())];
  }
  if (!in_group(task)) return {};
  const Group& group = plan_.groups()[task.detail];
  const bool second = task.kind == TaskKind::gather && group.work == GroupWork::all_reduce;
  return second ? group.gathers : group.tasks;
}

// A device's own part, the first where it has several, stands for a peer's.
TaskId Waits::own_part(DeviceId device, const Task& peer) const {
  const std::span<const TaskId> all = parts(peer);
  const auto own = std::find_if(all.begin(), all.end(),
                                [&](TaskId part) { return plan_[part].device == device; });
  return own == all.end() ? TaskId() : *own;
}

TaskId Waits::first_part(TaskId id) const {
  const Task& task = plan_[id];
  return plan_.exchange_of(task) == nullptr ? id : own_part(task.device, task);
}

std::vector<StepTask> Waits::on(DeviceId device, StepTask task) const {
  const Task& waiting = plan_[task.task];
  std::vector<StepTask> here;
  const auto add_waits_of = [&](TaskId part) {
    for (const StepTask& before : all({task.step, part})) {
      const Task& other = plan_[before.task];
      const bool here_too = happens_on(device, other);
      if (here_too) here.push_back({before.step, first_part(before.task)});
      if (here_too || waiting.device != device || is_sender(waiting, other.device)) continue;
      const TaskId own = own_part(device, other);
      if (own.valid()) here.push_back({before.step, own});
    }
  };
  if (plan_.exchange_of(waiting) == nullptr) {
    add_waits_of(task.task);
  } else {
    for (const TaskId part : parts(waiting)) add_waits_of(part);  // what it sends to others, too
  }
  std::sort(here.begin(), here.end());
  here.erase(std::unique(here.begin(), here.end()), here.end());
  return here;
}

std::size_t Waits::left_out(StepTask task) const {
  const Task& waiting = plan_[task.task];
  if (waiting.kind == TaskKind::join || !parts(waiting).empty()) return 0;  // its peers wait
  std::size_t count = 0;
  for (const StepTask& before : all(task)) {
    const Task& other = plan_[before.task];
    const bool carried = happens_on(waiting.device, other) || is_sender(waiting, other.device) ||
                         own_part(waiting.device, other).valid();
    count += carried ? 0 : 1;
  }
  return count;
}

}  // namespace strata
