#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/plan/work_kind.h"
#include "sim/simulate/simulate.h"
#include "sim/simulate/transfer_ways.h"

namespace strata {
namespace {

// Seconds of one activity; `what` says whose, in the error.
template <class What>
Tick bounded_ticks(Seconds time, const What& what) {
  if (time.value <= to_seconds(kMaxTick).value) return to_ticks(time);  // false for nan
  throw InputError(fmt::format("{} would take {:g} s; allowed: {:g} s, where the clock ends",
                               what(), time.value, to_seconds(kMaxTick).value));
}

Tick latency_ticks(Seconds latency) {
  return bounded_ticks(latency, [] { return "the latency of a transfer"; });
}

std::vector<Demand> demands(std::span<const LinkLoad> loads) {
  std::vector<Demand> result;
  result.reserve(loads.size());
  for (const LinkLoad& load : loads) result.push_back({load.link, load.demand()});
  return result;
}

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

class WorkloadBuilder {
 public:
  WorkloadBuilder(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                  std::size_t steps, const Runtime& runtime, const std::atomic<bool>* cancelled)
      : plan_(plan),
        cluster_(cluster),
        costs_(costs),
        ways_(transfer_ways(plan, cluster)),
        steps_(steps),
        runtime_(runtime),
        cancelled_(cancelled),
        built_{make(cluster), {}, {}},
        hosts_(runtime.launches.any() ? cluster.device_count() : 0),
        host_times_(cluster, runtime.host) {
    built_.first.reserve(steps * plan.size());
    built_.last.reserve(steps * plan.size());
    built_.first.resize(plan.size());
    built_.last.resize(plan.size());
    built_.workload.reserve(plan.size(), 0, dependency_count());
    prepare();
  }

  PlanWorkload run() && {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      throw_if_cancelled(cancelled_);
      if (!hosts_.empty()) launch(TaskId(i));
      add(TaskId(i));
      if (runtime_.launches.wait_for_passes) compute(TaskId(i));
    }
    for (std::size_t i = 0; i < plan_.size(); ++i) connect(TaskId(i));
    throw_if_cancelled(cancelled_);
    repeat();
    if (runtime_.overlap == Overlap::none) take_turns();
    return std::move(built_);
  }

 private:
  static Workload make(const Cluster& cluster) {
    std::vector<BytesPerSecond> bandwidths;
    for (const Link& link : cluster.links()) bandwidths.push_back(link.bandwidth);
    return Workload(cluster.device_count(), bandwidths);
  }

  // What is the same in every step: the demands of each transfer and of each group's phases.
  struct Flow {
    std::vector<Demand> demands;
    double bytes = 0;
    Tick latency = 0;
  };

  // What outlasts the clock by itself is named here; the engine would only give its number.
  void check(const Flow& flow, double bytes) const {
    for (const Demand& demand : flow.demands) {
      const Link& link = cluster_[demand.link];
      const Seconds least{bytes * demand.weight / link.bandwidth.value};
      bounded_ticks(least, [&] { return fmt::format("link {}: one transfer", link.name); });
    }
  }

  // Who sends to whom how much and how, and how many do alike: rounds move the same again.
  using Moved = std::vector<std::int64_t>;

  void find_moved(const Task& task, Moved& moved) const {
    moved.assign({static_cast<std::int64_t>(task.device()), plan_.alike(task)});
    for (const Piece& piece : plan_.pieces(plan_.transfers()[task.detail])) {
      moved.push_back(static_cast<std::int64_t>(piece.from()));
      moved.push_back(piece.bytes.value);
    }
    if (!ways_.empty()) {
      const TransferWay& way = ways_[task.detail];
      for (const double value : {way.latency.value, way.share, way.network_share}) {
        moved.push_back(std::bit_cast<std::int64_t>(value));
      }
    }
  }

  void prepare() {
    std::map<Moved, std::uint32_t> known;
    Moved moved;
    for (const Task& task : plan_.tasks()) {
      if (task.kind != TaskKind::transfer) continue;
      throw_if_cancelled(cancelled_);
      if (plan_.exchange_of(task) != nullptr || plan_.is_on_host(task)) {
        transfers_.push_back(0);  // moves with others, or on no link
        continue;
      }
      find_moved(task, moved);
      const auto [at, fresh] = known.try_emplace(moved, static_cast<std::uint32_t>(flows_.size()));
      transfers_.push_back(at->second);
      if (!fresh) continue;
      flows_.push_back(transfer_flow(task));
      check(flows_.back(), flows_.back().bytes);
    }
    for (const GroupShape& shape : plan_.group_shapes()) {
      std::vector<Flow>& flows = shapes_.emplace_back();
      for (const CollectivePhase& phase : shape.phases) {
        if (phase.loads.empty()) continue;  // nothing to do: not two hosts, say
        flows.push_back({demands(phase.loads), phase.bytes_per_byte, latency_ticks(phase.latency)});
      }
    }
  }

  Flow transfer_flow(const Task& task) const {
    std::vector<Movement> movements;
    const TransferWay way = ways_.empty() ? TransferWay{} : ways_[task.detail];
    for (const Piece& piece : plan_.pieces(plan_.transfers()[task.detail])) {
      const bool inside = cluster_[piece.from].host == cluster_[task.device].host;
      movements.push_back({piece.from, task.device, static_cast<double>(piece.bytes.value),
                           inside ? way.share : way.network_share});
    }
    MovementLoads loads = movement_loads(cluster_, movements);
    loads.latency += way.latency;
    if (const DeviceClasses* classes = plan_.classes()) count_alike(task, *classes, loads.loads);
    return {demands(loads.loads), loads.bytes, latency_ticks(loads.latency)};
  }

  // As many transfers like this cross each link of a class: those on the link that stands for it
  // move as one, at the rate of each.
  void count_alike(const Task& task, const DeviceClasses& classes,
                   std::vector<LinkLoad>& loads) const {
    const auto alike = static_cast<double>(plan_.alike(task));
    for (LinkLoad& load : loads) {
      load.weight *= alike / static_cast<double>(classes.members(load.link));
      load.link = classes.representative(load.link);
    }
    std::sort(loads.begin(), loads.end(),
              [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
  }

  // A layer that is computed again is part of the backward pass. Updates go with the pass before.
  struct Pass {
    bool forward = true;
    std::uint32_t round = 0;
    bool operator==(const Pass&) const = default;
  };
  static Pass pass_of(const Task& task) {
    return {is_forward(task.phase) && !task.again, task.round};
  }

  // What a device's host launches in a step, one after another.
  struct Host {
    ActivityId first, last;
    ActivityId last_task;  // of the device's own tasks, in plan order
    Pass pass;             // of the last launch
    ActivityId computed;   // the device's last task before the next launch
  };

  // A host that waits does so before what it waits for is used, whatever else is under way; it may
  // have nothing to launch there.
  void launch(TaskId id) {
    built_.launches.resize(plan_.size());
    const Task& task = plan_[id];
    if (task.kind != TaskKind::compute && !in_group(task.kind)) return;
    Host& host = hosts_[task.device()];
    std::vector<ActivityId> awaited;
    if (runtime_.launches.wait_for_stages) wait_for_stages(id, awaited);
    const Pass pass = task.phase == Phase::update ? host.pass : pass_of(task);
    if (host.computed.valid() && pass != host.pass) awaited.push_back(host.computed);
    const Seconds time = launch_time(runtime_.launches, plan_, id, costs_[id()]);
    if (time <= Seconds{0} && awaited.empty()) return;
    const ActivityId launched = built_.workload.add_event(
        bounded_ticks(time, [] { return "a host: the launch of kernels"; }));
    if (host.last.valid()) built_.workload.add_dependency(launched, host.last);
    for (ActivityId before : awaited) built_.workload.add_dependency(launched, before);
    host.pass = pass;
    if (!host.first.valid()) host.first = launched;
    host.last = built_.launches[id()] = launched;
  }

  // What the task needs of other stages.
  void wait_for_stages(TaskId id, std::vector<ActivityId>& awaited) const {
    for (TaskId before : plan_.dependencies(id)) {
      if (plan_[before].kind == TaskKind::join) {
        wait_for_stages(before, awaited);
      } else if (comes_from_another_stage(before)) {
        awaited.push_back(built_.last[before()]);
      }
    }
  }

  // Of a stage are the devices that hold shards of a layer.
  bool comes_from_another_stage(TaskId id) const {
    const Task& task = plan_[id];
    if (task.kind != TaskKind::transfer) return false;
    const std::span<const Piece> pieces = plan_.pieces(plan_.transfers()[task.detail]);
    if (pieces.empty()) return false;
    const ShardDevices& stage = plan_.placement(task.layer).devices;
    const auto is_in = [&](DeviceId device) {
      return std::find(stage.begin(), stage.end(), device) != stage.end();
    };
    return !is_in(pieces.front().from) || !is_in(task.device);
  }

  void compute(TaskId id) {
    if (hosts_.empty() || plan_[id].stream != Stream::device) return;
    hosts_[plan_[id].device()].computed = built_.last[id()];
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
    const Flow& flow = flows_[transfers_[task.detail]];
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
    const bool half = exchange.fused && !ways_.empty();
    std::tie(built_.first[id()], built_.last[id()]) =
        add_phases(id, exchange.shape, exchange.bytes, half ? 0.5 : 1);
  }

  // One after another. `waits`: how much of the latencies counts.
  std::pair<ActivityId, ActivityId> add_phases(TaskId id, std::uint32_t shape, Bytes all,
                                               double waits) {
    const double share = runtime_.communication_share;
    const std::uint32_t slowed = share > 0 ? slowed_by(plan_[id]) : 0;
    ActivityId first, last;
    for (const Flow& flow : shapes_[shape]) {
      const double bytes = flow.bytes * static_cast<double>(all.value);
      check(flow, bytes);
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
    const auto [at, fresh] = device_sets_.try_emplace(partners(collective), 0);
    if (fresh) at->second = built_.workload.add_device_set(at->first);
    return at->second;
  }

  // There will be about as many.
  std::size_t dependency_count() const {
    std::size_t count = hosts_.empty() ? 0 : 2 * plan_.size();
    for (std::size_t i = 0; i < plan_.size(); ++i) count += plan_.dependencies(TaskId(i)).size();
    return count;
  }

  void connect(TaskId id) {
    const ActivityId first = built_.first[id()];
    for (TaskId before : plan_.dependencies(id)) {
      built_.workload.add_dependency(first, built_.last[before()]);
    }
    if (hosts_.empty()) return;
    const ActivityId launched = built_.launches[id()];
    if (launched.valid()) built_.workload.add_dependency(first, launched);
    if (plan_[id].stream == Stream::device) {
      hosts_[plan_[id].device()].last_task = built_.last[id()];
    }
  }

  // The steps after the first one.
  void repeat() {
    std::vector<Dependency> carried;
    std::size_t count = 2 * hosts_.size();
    for (std::size_t i = 0; i < plan_.size(); ++i) count += plan_.carried(TaskId(i)).size();
    carried.reserve(count);
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      for (TaskId before : plan_.carried(TaskId(i))) {
        carried.push_back({built_.first[i], built_.last[before()]});
      }
    }
    for (const Host& host : hosts_) {
      if (!host.first.valid()) continue;
      carried.push_back({host.first, host.last});
      carried.push_back({host.first, host.last_task});
    }
    for (const auto& [part, ends] : host_parts_) carried.push_back({ends.first, ends.second});
    const std::size_t period = built_.workload.size();
    built_.workload.repeat(steps_ - 1, std::move(carried), plan_.size());
    for (std::size_t at = plan_.size(); at < steps_ * plan_.size(); ++at) {
      built_.first.push_back(after(built_.first[at - plan_.size()], period));
      built_.last.push_back(after(built_.last[at - plan_.size()], period));
      if (hosts_.empty()) continue;
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

  // What a device did last: work of its own, and since then moves that it takes part in.
  struct Recent {
    std::optional<ActivityId> work;
    std::vector<std::size_t> moves;  // slots
  };

  // In plan order, which is topological, so nothing can wait in a circle: a device's work waits for
  // the work and the moves before it, a move for the work before it on every device that takes
  // part.
  void take_turns() {
    std::vector<Recent> recent(cluster_.device_count());
    for (std::size_t at = 0; at < built_.first.size(); ++at) {
      const TaskId id(at % plan_.size());
      const Task& task = plan_[id];
      if (task.kind == TaskKind::join) continue;
      if (task.stream == Stream::device) {
        add_turn_of_work(recent[task.device()], at);
      } else if (task.kind != TaskKind::collective ||
                 plan_.groups()[task.detail].tasks.front() == id) {
        for (DeviceId device : partners(task)) add_turn_of_move(recent[device()], at);
      }
    }
  }

  void add_turn_of_work(Recent& recent, std::size_t at) {
    for (std::size_t move : recent.moves) {
      built_.workload.add_dependency(built_.first[at], built_.last[move]);
    }
    if (recent.work) built_.workload.add_dependency(built_.first[at], *recent.work);
    recent.moves.clear();
    recent.work = built_.last[at];
  }
  void add_turn_of_move(Recent& recent, std::size_t at) {
    if (recent.work) built_.workload.add_dependency(built_.first[at], *recent.work);
    recent.moves.push_back(at);
  }

  std::vector<DeviceId> partners(const Task& task) const {
    if (task.kind == TaskKind::collective) {
      return represented(plan_.participants(plan_.groups()[task.detail]));
    }
    if (const Exchange* exchange = plan_.exchange_of(task)) {
      return represented(plan_.group_shapes()[exchange->shape].devices);
    }
    std::vector<DeviceId> devices = {task.device};
    for (const Piece& piece : plan_.pieces(plan_.transfers()[task.detail])) {
      devices.push_back(piece.from);
    }
    return represented(devices);
  }

  std::vector<DeviceId> represented(std::span<const DeviceId> all) const {
    std::vector<DeviceId> devices(all.begin(), all.end());
    if (plan_.classes() == nullptr) return devices;
    for (DeviceId& device : devices) device = plan_.representative(device);
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  std::span<const Cost> costs_;
  std::vector<TransferWay> ways_;  // by transfer; or none
  std::size_t steps_;
  const Runtime& runtime_;
  const std::atomic<bool>* cancelled_;
  PlanWorkload built_;
  std::vector<Host> hosts_;  // by device; none where no launch takes time
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> transfers_;   // in flows_, in the order of Task::detail
  std::vector<std::vector<Flow>> shapes_;  // by group shape
  std::map<std::vector<DeviceId>, std::uint32_t> device_sets_;
  const HostTimes host_times_;
  // What a part of its host does first and last for a device in a step.
  std::map<std::pair<DeviceId, HostPart>, std::pair<ActivityId, ActivityId>> host_parts_;
};

}  // namespace

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

PlanWorkload build_workload(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                            std::size_t steps, const Runtime& runtime,
                            const std::atomic<bool>* cancelled) {
  return WorkloadBuilder(plan, cluster, costs, steps, runtime, cancelled).run();
}

}  // namespace strata
