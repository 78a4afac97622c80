#include "sim/exporters/chakra/waits.h"

#include <algorithm>

#include "sim/plan/work_kind.h"

namespace strata {

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

bool Waits::is_sender(const Task& transfer, DeviceId device) const {
  if (transfer.kind != TaskKind::transfer) return false;
  const auto pieces = plan_.pieces(plan_.transfers()[transfer.detail]);
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const Piece& piece) { return piece.from == device; });
}

// A collective ends for all of its group, so that a device's own part stands for a peer's.
TaskId Waits::own_part(DeviceId device, const Task& peer) const {
  if (!in_group(peer)) return {};
  const Group& group = plan_.groups()[peer.detail];
  const bool second = peer.kind == TaskKind::gather && group.work == GroupWork::all_reduce;
  const auto& parts = second ? group.gathers : group.tasks;
  const auto own = std::find_if(parts.begin(), parts.end(),
                                [&](TaskId part) { return plan_[part].device == device; });
  return own == parts.end() ? TaskId() : *own;
}

std::vector<StepTask> Waits::on(DeviceId device, StepTask task) const {
  const Task& waiting = plan_[task.task];
  std::vector<StepTask> here;
  for (const StepTask& before : all(task)) {
    const Task& other = plan_[before.task];
    const bool happens_here = other.device == device || is_sender(other, device);
    if (happens_here) here.push_back(before);
    if (happens_here || waiting.device != device || is_sender(waiting, other.device)) continue;
    const TaskId own = own_part(device, other);
    if (own.valid()) here.push_back({before.step, own});
  }
  std::sort(here.begin(), here.end());
  here.erase(std::unique(here.begin(), here.end()), here.end());
  return here;
}

std::size_t Waits::left_out(StepTask task) const {
  const Task& waiting = plan_[task.task];
  if (waiting.kind == TaskKind::join || in_group(waiting)) return 0;  // its peers wait
  std::size_t count = 0;
  for (const StepTask& before : all(task)) {
    const Task& other = plan_[before.task];
    const bool carried = other.device == waiting.device || is_sender(other, waiting.device) ||
                         is_sender(waiting, other.device) ||
                         own_part(waiting.device, other).valid();
    count += carried ? 0 : 1;
  }
  return count;
}

}  // namespace strata
