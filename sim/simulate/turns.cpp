#include "sim/simulate/turns.h"

#include <algorithm>
#include <optional>
#include <span>

namespace strata {
namespace {

// What a device did last: work of its own, and since then moves that it takes part in.
struct Recent {
  std::optional<ActivityId> work;
  std::vector<std::size_t> moves;  // slots
};

void add_turn_of_work(PlanWorkload& built, Recent& recent, std::size_t at) {
  for (std::size_t move : recent.moves) {
    built.workload.add_dependency(built.first[at], built.last[move]);
  }
  if (recent.work) built.workload.add_dependency(built.first[at], *recent.work);
  recent.moves.clear();
  recent.work = built.last[at];
}

void add_turn_of_move(PlanWorkload& built, Recent& recent, std::size_t at) {
  if (recent.work) built.workload.add_dependency(built.first[at], *recent.work);
  recent.moves.push_back(at);
}

std::vector<DeviceId> represented(const Plan& plan, std::span<const DeviceId> all) {
  std::vector<DeviceId> devices(all.begin(), all.end());
  if (plan.classes() == nullptr) return devices;
  for (DeviceId& device : devices) device = plan.representative(device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace

std::vector<DeviceId> moving_devices(const Plan& plan, const Task& task) {
  if (task.kind == TaskKind::collective) {
    return represented(plan, plan.participants(plan.groups()[task.detail]));
  }
  if (const Exchange* exchange = plan.exchange_of(task)) {
    return represented(plan, plan.group_shapes()[exchange->shape].devices);
  }
  std::vector<DeviceId> devices = {task.device};
  for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
    devices.push_back(piece.from);
  }
  return represented(plan, devices);
}

// In plan order, which is topological, so nothing can wait in a circle: a device's work waits for
// the work and the moves before it, a move for the work before it on every device that takes
// part.
void take_turns(const Plan& plan, const Cluster& cluster, PlanWorkload& built) {
  std::vector<Recent> recent(cluster.device_count());
  for (std::size_t at = 0; at < built.first.size(); ++at) {
    const TaskId id(at % plan.size());
    const Task& task = plan[id];
    if (task.kind == TaskKind::join) continue;
    if (task.stream == Stream::device) {
      add_turn_of_work(built, recent[task.device()], at);
    } else if (task.kind != TaskKind::collective ||
               plan.groups()[task.detail].tasks.front() == id) {
      for (DeviceId device : moving_devices(plan, task)) {
        add_turn_of_move(built, recent[device()], at);
      }
    }
  }
}

}  // namespace strata
