#include "sim/simulate/host_launches.h"

#include <algorithm>

#include "sim/plan/work_kind.h"
#include "sim/simulate/bounded_ticks.h"

namespace strata {
namespace {

Seconds launch_time(const Launches& each, const Plan& plan, TaskId id, const Cost& cost) {
  const Task& task = plan[id];
  const auto of_sum = [&](std::size_t devices) {
    return devices > kUsualGroup ? each.communication + each.lockstep : each.communication;
  };
  if (in_group(task.kind)) return of_sum(plan.participants(plan.groups()[task.detail]).size());
  if (task.kind != TaskKind::compute) return {};
  if (is_sum(task.phase)) return of_sum(plan.moves(id).size());
  const Seconds kernel = task.phase == Phase::update ? each.update
                         : is_forward(task.phase)    ? each.forward
                                                     : each.backward;
  return static_cast<double>(cost.kernels) * kernel;
}

// Of a stage are the devices that hold shards of a layer.
bool comes_from_another_stage(const Plan& plan, TaskId id) {
  const Task& task = plan[id];
  if (task.kind != TaskKind::transfer) return false;
  const std::span<const Piece> pieces = plan.pieces(plan.transfers()[task.detail]);
  if (pieces.empty()) return false;
  const ShardDevices& stage = plan.placement(task.layer).devices;
  const auto is_in = [&](DeviceId device) {
    return std::find(stage.begin(), stage.end(), device) != stage.end();
  };
  return !is_in(pieces.front().from) || !is_in(task.device);
}

// What the task needs of other stages.
void wait_for_stages(const Plan& plan, TaskId id, const PlanWorkload& built,
                     std::vector<ActivityId>& awaited) {
  for (TaskId before : plan.dependencies(id)) {
    if (plan[before].kind == TaskKind::join) {
      wait_for_stages(plan, before, built, awaited);
    } else if (comes_from_another_stage(plan, before)) {
      awaited.push_back(built.last[before()]);
    }
  }
}

}  // namespace

HostLaunches::HostLaunches(const Plan& plan, std::span<const Cost> costs, const Launches& each)
    : plan_(plan), costs_(costs), each_(each), hosts_(each.any() ? plan.device_count() : 0) {}

HostLaunches::Pass HostLaunches::pass_of(const Task& task) {
  return {is_forward(task.phase) && !task.again, task.round};
}

// A host that waits does so before what it waits for is used, whatever else is under way; it may
// have nothing to launch there.
void HostLaunches::launch(TaskId id, PlanWorkload& built) {
  if (empty()) return;
  const Task& task = plan_[id];
  if (task.kind != TaskKind::compute && !in_group(task.kind)) return;
  Host& host = hosts_[task.device()];
  std::vector<ActivityId> awaited;
  if (each_.wait_for_stages) wait_for_stages(plan_, id, built, awaited);
  const Pass pass = task.phase == Phase::update ? host.pass : pass_of(task);
  if (host.computed.valid() && pass != host.pass) awaited.push_back(host.computed);
  if (costs_[id()].host_waits && host.before.valid()) awaited.push_back(host.before);
  const Seconds time = launch_time(each_, plan_, id, costs_[id()]);
  if (time <= Seconds{0} && awaited.empty()) return;
  const ActivityId launched =
      built.workload.add_event(bounded_ticks(time, [] { return "a host: the launch of kernels"; }));
  if (host.last.valid()) built.workload.add_dependency(launched, host.last);
  for (ActivityId before : awaited) built.workload.add_dependency(launched, before);
  host.pass = pass;
  if (!host.first.valid()) host.first = launched;
  host.last = built.launches[id()] = launched;
}

void HostLaunches::added(TaskId id, const PlanWorkload& built) {
  if (empty() || plan_[id].stream != Stream::device) return;
  Host& host = hosts_[plan_[id].device()];
  host.before = built.last[id()];
  if (each_.wait_for_passes) host.computed = host.before;
}

void HostLaunches::connect(TaskId id, PlanWorkload& built) {
  if (empty()) return;
  const ActivityId launched = built.launches[id()];
  if (launched.valid()) built.workload.add_dependency(built.first[id()], launched);
  if (plan_[id].stream == Stream::device) {
    hosts_[plan_[id].device()].last_task = built.last[id()];
  }
}

void HostLaunches::carry(std::vector<Dependency>& carried) const {
  for (const Host& host : hosts_) {
    if (!host.first.valid()) continue;
    carried.push_back({host.first, host.last});
    carried.push_back({host.first, host.last_task});
  }
}

std::vector<Seconds> launch_times(const Plan& plan, std::span<const Cost> costs,
                                  const Launches& launches, Rounds rounds) {
  std::vector<Seconds> times(plan.device_count());
  if (!launches.any()) return times;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind == TaskKind::join || !rounds.contain(task)) continue;
    times[task.device()] += launch_time(launches, plan, TaskId(i), costs[i]);
  }
  return times;
}

}  // namespace strata
