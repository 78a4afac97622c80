#include "sim/simulate/plan_workload.h"

#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/simulate/bounded_ticks.h"
#include "sim/simulate/host_launches.h"
#include "sim/simulate/step_flows.h"
#include "sim/simulate/turns.h"

namespace strata {
namespace {

class WorkloadBuilder {
 public:
  WorkloadBuilder(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                  std::size_t steps, const Runtime& runtime, const std::atomic<bool>* cancelled)
      : plan_(plan),
        cluster_(cluster),
        costs_(costs),
        steps_(steps),
        runtime_(runtime),
        cancelled_(cancelled),
        flows_(step_flows(plan, cluster, cancelled)),
        built_{make(cluster), {}, {}},
        launches_(plan, costs, runtime.launches),
        host_times_(cluster, runtime.host) {
    built_.first.reserve(steps * plan.size());
    built_.last.reserve(steps * plan.size());
    built_.first.resize(plan.size());
    built_.last.resize(plan.size());
    if (!launches_.empty()) built_.launches.resize(plan.size());
    built_.workload.reserve(plan.size(), 0, dependency_count());
  }

  PlanWorkload run() && {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      throw_if_cancelled(cancelled_);
      launches_.launch(TaskId(i), built_);
      add(TaskId(i));
      launches_.added(TaskId(i), built_);
    }
    for (std::size_t i = 0; i < plan_.size(); ++i) connect(TaskId(i));
    throw_if_cancelled(cancelled_);
    repeat();
    if (runtime_.overlap == Overlap::none) take_turns(plan_, cluster_, built_);
    return std::move(built_);
  }

 private:
  static Workload make(const Cluster& cluster) {
    std::vector<BytesPerSecond> bandwidths;
    for (const Link& link : cluster.links()) bandwidths.push_back(link.bandwidth);
    return Workload(cluster.device_count(), bandwidths);
  }

  void add(TaskId id) {
    const Task& task = plan_[id];
    if (task.kind == TaskKind::collective) return add_group(id);
    if (const Exchange* exchange = plan_.exchange_of(task)) return add_to_exchange(*exchange, id);
    built_.first[id()] = built_.last[id()] = add_single(task, id);
  }

  // Its place in the plan is its priority.
  ActivityId add_single(const Task& task, TaskId id) {
    Workload& workload = built_.workload;
    if (task.kind == TaskKind::join) return workload.add_event();
    if (task.stream == Stream::device) return workload.add_compute(task.device, ticks(id), id());
    const Transfer& transfer = plan_.transfers()[task.detail];
    if (plan_.is_on_host(task)) return add_on_host(task.device, transfer);
    const Flow& flow = flows_.of(task);
    return workload.add_flow(flow.demands, flow.bytes, flow.latency);
  }

  // A part of its host does what it does for a device in plan order, as a stream.
  ActivityId add_on_host(DeviceId device, const Transfer& transfer) {
    const HostPart part = transfer.host;
    const Tick duration = bounded_ticks(host_times_.of(device, part, transfer.bytes), [&] {
      return fmt::format("device {}: an update on its host", cluster_[device].name);
    });
    const ActivityId work = built_.workload.add_event(duration);
    const auto [at, fresh] = host_parts_.try_emplace({device, part}, work, work);
    if (!fresh) built_.workload.add_dependency(work, std::exchange(at->second.second, work));
    return work;
  }

  Tick ticks(TaskId id, std::size_t step = 0) const {
    const Task& task = plan_[id];
    const Seconds time = costs_[step * plan_.size() + id()].seconds / cluster_[task.device].speed;
    return bounded_ticks(time, [&] {
      const char* what = task.kind == TaskKind::compute ? "computation" : "copy";
      return fmt::format("device {}: one {}", cluster_[task.device].name, what);
    });
  }

  // The group's flows are made once, at its first participant.
  void add_group(TaskId id) {
    const Group& group = plan_.groups()[plan_[id].detail];
    if (group.tasks.front() != id) return;
    const auto [first, last] = add_phases(id, group.shape, group.bytes, 1);
    for (TaskId task : group.tasks) {
      built_.first[task()] = first;
      built_.last[task()] = last;
    }
  }

  // Likewise, at its first transfer. By a library each half of an all-reduce has half of its
  // latency.
  void add_to_exchange(const Exchange& exchange, TaskId id) {
    if (exchange.first != id) {
      built_.first[id()] = built_.first[exchange.first()];
      built_.last[id()] = built_.last[exchange.first()];
      return;
    }
    const bool half = exchange.fused && flows_.by_library;
    std::tie(built_.first[id()], built_.last[id()]) =
        add_phases(id, exchange.shape, exchange.bytes, half ? 0.5 : 1);
  }

  // One after another. `waits`: how much of the latencies counts.
  std::pair<ActivityId, ActivityId> add_phases(TaskId id, std::uint32_t shape, Bytes all,
                                               double waits) {
    const double share = runtime_.communication_share;
    const std::uint32_t slowed = share > 0 ? slowed_by(plan_[id]) : 0;
    ActivityId first, last;
    for (const Flow& flow : flows_.shapes[shape]) {
      const double bytes = flow.bytes * static_cast<double>(all.value);
      check_flow(cluster_, flow, bytes);
      const auto latency = static_cast<Tick>(waits * static_cast<double>(flow.latency));
      const ActivityId next = built_.workload.add_flow(flow.demands, bytes, latency);
      if (share > 0) built_.workload.slow(next, slowed, share);
      if (last.valid()) built_.workload.add_dependency(next, last);
      if (!first.valid()) first = next;
      last = next;
    }
    return {first, last};
  }

  // The set of devices that take part in the collective.
  std::uint32_t slowed_by(const Task& collective) {
    const auto [at, fresh] = device_sets_.try_emplace(moving_devices(plan_, collective), 0);
    if (fresh) at->second = built_.workload.add_device_set(at->first);
    return at->second;
  }

  // There will be about as many.
  std::size_t dependency_count() const {
    std::size_t count = launches_.empty() ? 0 : 2 * plan_.size();
    for (std::size_t i = 0; i < plan_.size(); ++i) count += plan_.dependencies(TaskId(i)).size();
    return count;
  }

  void connect(TaskId id) {
    const ActivityId first = built_.first[id()];
    for (TaskId before : plan_.dependencies(id)) {
      built_.workload.add_dependency(first, built_.last[before()]);
    }
    launches_.connect(id, built_);
  }

  // The steps after the first one.
  void repeat() {
    std::vector<Dependency> carried;
    std::size_t count = 2 * launches_.hosts();
    for (std::size_t i = 0; i < plan_.size(); ++i) count += plan_.carried(TaskId(i)).size();
    carried.reserve(count);
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      for (TaskId before : plan_.carried(TaskId(i))) {
        carried.push_back({built_.first[i], built_.last[before()]});
      }
    }
    launches_.carry(carried);
    for (const auto& [part, ends] : host_parts_) carried.push_back({ends.first, ends.second});
    const std::size_t period = built_.workload.size();
    built_.workload.repeat(steps_ - 1, std::move(carried), plan_.size());
    for (std::size_t at = plan_.size(); at < steps_ * plan_.size(); ++at) {
      built_.first.push_back(after(built_.first[at - plan_.size()], period));
      built_.last.push_back(after(built_.last[at - plan_.size()], period));
      if (launches_.empty()) continue;
      built_.launches.push_back(after(built_.launches[at - plan_.size()], period));
    }
    if (costs_.size() != plan_.size()) set_durations();
  }

  static ActivityId after(ActivityId id, std::size_t period) {
    return id.valid() ? ActivityId{id() + period} : id;
  }

  void set_durations() {
    for (std::size_t at = plan_.size(); at < built_.first.size(); ++at) {
      const TaskId id(at % plan_.size());
      if (plan_[id].kind == TaskKind::join || plan_[id].stream != Stream::device) continue;
      built_.workload.set_duration(built_.first[at], ticks(id, at / plan_.size()));
    }
  }

  const Plan& plan_;
  const Cluster& cluster_;
  std::span<const Cost> costs_;
  std::size_t steps_;
  const Runtime& runtime_;
  const std::atomic<bool>* cancelled_;
  const StepFlows flows_;
  PlanWorkload built_;
  HostLaunches launches_;
  std::map<std::vector<DeviceId>, std::uint32_t> device_sets_;
  const HostTimes host_times_;
  // What a part of its host does first and last for a device in a step.
  std::map<std::pair<DeviceId, HostPart>, std::pair<ActivityId, ActivityId>> host_parts_;
};

}  // namespace

PlanWorkload build_workload(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                            std::size_t steps, const Runtime& runtime,
                            const std::atomic<bool>* cancelled) {
  return WorkloadBuilder(plan, cluster, costs, steps, runtime, cancelled).run();
}

}  // namespace strata
