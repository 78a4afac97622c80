#include "exec/mpi/parts.h"

#include <algorithm>

namespace strata::mpi {
namespace {

std::vector<DeviceId> peers(const Plan& plan, const Task& task) {
  std::vector<DeviceId> devices;
  for (TaskId other : plan.groups()[task.detail].tasks) {
    if (plan[other].device != task.device) devices.push_back(plan[other].device);
  }
  return devices;
}

}  // namespace

std::vector<DeviceId> senders(const Plan& plan, TaskId id) {
  const Task& task = plan[id];
  switch (task.kind) {
    case TaskKind::transfer:  // of a plan that can be run: one sender
      return {plan.pieces(plan.transfers()[task.detail]).front().from};
    case TaskKind::reduce:
    case TaskKind::gather:
      return peers(plan, task);
    case TaskKind::compute:
    case TaskKind::collective:
    case TaskKind::join:
      break;
  }
  return {};
}

namespace {

Part part_of(const Plan& plan, TaskId task, DeviceId device) {
  if (plan[task].device == device) return Part::does;
  const std::vector<DeviceId> from = senders(plan, task);
  return std::find(from.begin(), from.end(), device) == from.end() ? Part::none : Part::sends;
}

}  // namespace

std::vector<Part> parts_of(const Plan& plan, DeviceId device) {
  std::vector<Part> parts;
  parts.reserve(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) parts.push_back(part_of(plan, TaskId(i), device));
  return parts;
}

std::vector<bool> having_part(const std::vector<Part>& parts) {
  std::vector<bool> has_part(parts.size());
  std::transform(parts.begin(), parts.end(), has_part.begin(),
                 [](Part part) { return part != Part::none; });
  return has_part;
}

}  // namespace strata::mpi
