// What one answer says of a step, held to sums and to counts that need no other answer.

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/graph/regions.h"
#include "sim/plan/bytes_moved.h"
#include "sim/strategy/stages.h"
#include "tests/metamorphic/relation.h"
#include "tests/sim/plan/counted_communication.h"

namespace strata::testing {
namespace {

void times_are_finite(Trial& trial) {
  trial.applies();
  const Prediction& found = trial.found();
  for (const Seconds time : {found.step, found.makespan, found.eq1_seconds()}) {
    trial.expect(std::isfinite(time.value) && time.value > 0,
                 [&] { return fmt::format("a time of {} s", time.value); });
  }
  trial.expect(found.step.value <= found.makespan.value * (1 + 1e-9), [&] {
    return fmt::format("a step of {} s in a makespan of {} s", found.step.value,
                       found.makespan.value);
  });
}

std::array<Seconds, 9> parts_of(const StepParts& parts) {
  return {parts.compute,        parts.recompute,      parts.bubble,
          parts.optimizer,      parts.launch,         parts.exposed.transfer,
          parts.exposed.reduce, parts.exposed.gather, parts.exposed.statistics};
}

void parts_add_up_to_the_step(Trial& trial) {
  trial.applies();
  const Prediction& found = trial.found();
  trial.expect_equal(found.breakdown.devices.size(), trial.devices(), "devices with parts");
  const Seconds step = found.timeline.step_seconds();
  for (const StepParts& parts : found.breakdown.devices) {
    for (const Seconds part : parts_of(parts)) {
      trial.expect(part.value >= -1e-9 * step.value,
                   [&] { return fmt::format("a part of {} s", part.value); });
    }
    trial.expect_near(parts.total().value, step.value, "parts and step", 1e-6);
  }
  const PathShares& path = found.path;
  const Seconds on_path = path.compute + path.transfer + path.sync + path.statistics + path.idle;
  if (found.timeline.steps() < 3) return;  // of fewer the path begins with the first step
  const SteadyTime window = found.timeline.steady_time();
  trial.expect_near(on_path.value, ((window.to - window.from) / window.steps).value,
                    "critical path and step", 1e-6);
}

// Whether each of the device's tasks begins a step later than the one of the step before, as far as
// the steady window sees: a device that waits for no other runs ahead, by steps that it may need to
// have simulated after the window.
bool keeps_step(const Prediction& found, DeviceId device) {
  const Timeline& timeline = found.timeline;
  if (timeline.steps() < 4) return false;
  const auto [first, last] = timeline.steady_window();
  const Seconds begin = timeline.step_end(first), end = timeline.step_end(last);
  const std::size_t most_ahead = timeline.steps() - last;
  for (std::size_t i = 0; i < found.plan.size(); ++i) {
    const TaskId task(i);
    if (found.plan[task].device != device || found.plan[task].kind != TaskKind::compute) continue;
    if (timeline.span(first + most_ahead, task).start < begin) return false;
    for (std::size_t step = first; step + 1 < timeline.steps(); ++step) {
      const Seconds start = timeline.span(step + 1, task).start;
      const Seconds expected = timeline.span(step, task).start + found.step;
      if (std::min(start, expected) >= end) break;
      if (std::abs((start - expected).value) > 1e-9 * found.step.value) return false;
    }
  }
  return true;
}

// Compute tasks take what they cost, a device does one at a time, and its parts say so.
void devices_compute_what_tasks_cost(Trial& trial) {
  const Prediction& found = trial.found();
  if (trial.input().runtime.communication_share > 0) return;
  trial.applies();
  const std::vector<DeviceWork> work = device_work(trial.input(), found);
  for (std::size_t d = 0; d < work.size(); ++d) {
    const Seconds cost = work[d].total();
    const bool settled = found.timeline.steps() > 3;
    // The clock rounds each task to a picosecond.
    const double rounding = 1e-12 * static_cast<double>(found.plan.size());
    trial.expect(!settled || cost.value <= found.step.value + rounding, [&] {
      return fmt::format("device {} computes {} s in a step of {} s", d, cost.value,
                         found.step.value);
    });
    if (!keeps_step(found, DeviceId(d))) continue;
    const StepParts& parts = found.breakdown.devices[d];
    const double most = 1e-6 * found.step.value + 1e-10;
    for (const auto& [told, costs] :
         {std::pair(parts.compute, work[d].compute), std::pair(parts.recompute, work[d].recompute),
          std::pair(parts.optimizer, work[d].optimizer)}) {
      trial.expect(std::abs((told - costs).value) <= most, [&, told = told, costs = costs] {
        return fmt::format("device {} computes {} s; its tasks cost {} s", d, told.value,
                           costs.value);
      });
    }
  }
}

void sources_are_all_costs(Trial& trial) {
  trial.applies();
  Seconds sum;
  for (std::size_t i = 0; i < trial.found().plan.size(); ++i) {
    if (trial.found().plan[TaskId(i)].stream == Stream::device)
      sum += trial.found().costs[i].seconds;
  }
  trial.expect_near(trial.found().sources.total().value, sum.value, "sources of costs", 1e-6);
}

/// The time that `bytes` take from one device to another at least.
Seconds least_time(const Cluster& cluster, DeviceId from, DeviceId to, Bytes bytes) {
  Seconds time;
  for (const LinkId link : cluster.route(from, to)) {
    time = std::max(time, bytes / cluster[link].bandwidth);
  }
  return time + cluster.latency(from, to);
}

// Latencies, starts and ends are whole ticks of a picosecond, and a rate that changes while bytes
// move rounds once more.
constexpr double kRoundingOfSpans = 5e-12;

// Clusters that say how their library moves bytes have latencies of their own.
bool moves_by_links_alone(const Trial& trial) {
  return trial.input().cluster.communication_library() == CommunicationLibrary{};
}

void transfers_take_what_their_links_allow(Trial& trial) {
  if (!moves_by_links_alone(trial)) return;
  trial.applies();
  const Plan& plan = trial.found().plan;
  const Timeline& timeline = trial.found().timeline;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::transfer || task.stream == Stream::device) continue;
    Bytes moved;
    Seconds least;
    for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
      moved += piece.bytes;
      least =
          std::max(least, least_time(trial.input().cluster, piece.from, task.device, piece.bytes));
    }
    trial.expect_equal(moved, plan.transfers()[task.detail].bytes, "pieces and their transfer");
    // What a library exchanges takes the way of its ring, not that from each device to each.
    if (plan.transfers()[task.detail].exchange != kNoExchange) continue;
    const Seconds took = timeline.span(0, TaskId(i)).end - timeline.span(0, TaskId(i)).start;
    trial.expect(took.value >= least.value * (1 - 1e-9) - kRoundingOfSpans, [&] {
      return fmt::format("a transfer of {} bytes takes {} s; its links need {} s", moved.value,
                         took.value, least.value);
    });
  }
}

// What comes into a device comes over its links.
BytesPerSecond bandwidth_into(const Cluster& cluster, DeviceId device) {
  BytesPerSecond sum;
  for (const Link& link : cluster.links()) {
    if (link.to == device()) sum.value += link.bandwidth.value;
  }
  return sum;
}

// In a ring each of r devices gets (r-1)/r of the tensor from its neighbour, in an all-reduce
// twice.
void rings_take_what_their_links_allow(Trial& trial) {
  if (!moves_by_links_alone(trial)) return;
  const Plan& plan = trial.found().plan;
  for (const Group& group : plan.groups()) {
    const auto devices = plan.participants(group);
    if (group.algorithm != SyncAlgorithm::ring || devices.size() < 2) continue;
    if (plan[group.tasks.front()].kind != TaskKind::collective) continue;
    trial.applies();
    const double halves = group.work == GroupWork::all_reduce ? 2 : 1;
    const auto r = static_cast<double>(devices.size());
    for (std::size_t k = 0; k < devices.size(); ++k) {
      const Span& span = trial.found().timeline.span(0, group.tasks[k]);
      const double bytes = halves * (r - 1) / r * static_cast<double>(group.bytes.value);
      const double least = bytes / bandwidth_into(trial.input().cluster, devices[k]).value;
      trial.expect((span.end - span.start).value >= least * (1 - 1e-9) - kRoundingOfSpans, [&] {
        return fmt::format("a ring of {} bytes takes {} s; its links need {} s", group.bytes.value,
                           (span.end - span.start).value, least);
      });
    }
  }
}

constexpr std::int64_t kMostCounted = 20'000;

// Elements that a count one by one would look at.
bool can_be_counted(const Graph& graph) {
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    elements += volume(whole(layer.output)) * std::max<std::int64_t>(1, layer.reduction);
  }
  return elements <= kMostCounted;
}

// Bytes that a step moves, counted element by element. Of what sharing and recomputation move more,
// there are other relations.
void bytes_are_those_of_the_definitions(Trial& trial) {
  const Case& cut = trial.cut();
  const Strategy& strategy = trial.found().strategy;
  const bool plain = cut.sync.zero == Zero::nothing && strategy.segments().empty() &&
                     !cut.gathers_again && cut.schedule.own.empty();
  if (!plain || !can_be_counted(cut.graph)) return;
  trial.applies();
  const std::int64_t value = element_bytes(cut.dtypes.values);
  trial.expect_near(static_cast<double>(trial.found().communication.transfer.value),
                    static_cast<double>(cut.rounds * value * count_transfers(cut.graph, strategy)),
                    "bytes of transfers, and counted", 0);
  // A server gets gradients, and sends parameters; `auto` may choose one.
  const std::int64_t there = element_bytes(cut.dtypes.gradients);
  std::int64_t back = there;
  if (cut.sync.algorithm == SyncAlgorithm::ps) back = element_bytes(cut.dtypes.parameters);
  if (cut.sync.algorithm == SyncAlgorithm::automatic && cut.sync.may_serve()) return;
  trial.expect_near(2 * static_cast<double>(trial.found().communication.sync.value),
                    static_cast<double>((there + back) * count_sync(cut.graph, strategy)),
                    "twice the bytes of sums, and counted", 0);
}

// Parameters, and what an optimizer keeps of those that it trains where nothing is shared and
// neither a server nor hosts keep it.
std::vector<std::int64_t> held_bytes(const Case& cut, const Strategy& strategy) {
  std::vector<std::int64_t> least(cut.cluster.device_count());
  const std::int64_t parameters = element_bytes(cut.dtypes.parameters);
  const bool whole =
      cut.sync.zero == Zero::nothing && !cut.sync.may_serve() && !cut.sync.updates_on_host();
  const std::int64_t state = whole ? state_bytes(cut.optimizer, cut.dtypes.parameters) : 0;
  for (std::size_t i = 0; i < cut.graph.size(); ++i) {
    const Layer& layer = cut.graph[LayerId(i)];
    if (layer.weight_of.valid() || !cut.graph.needs_gradient(LayerId(i))) continue;
    const std::int64_t each = parameters + (layer.trains() ? state : 0);
    const Config& config = strategy[LayerId(i)];
    const Partition parts = partition(layer, config.degrees);
    for (std::size_t s = 0; s < config.devices.size(); ++s) {
      least[config.devices[s]()] +=
          each * shard_parameters(layer, parts.tile(static_cast<std::int64_t>(s))).total();
    }
  }
  return least;
}

void memory_holds_parameters_and_state(Trial& trial) {
  const Case& cut = trial.cut();
  if (cut.sync.zero == Zero::parameters) return;
  trial.applies();
  const std::vector<std::int64_t> least = held_bytes(cut, trial.found().strategy);
  for (std::size_t d = 0; d < least.size(); ++d) {
    trial.expect(trial.found().peak_memory[d].value >= least[d], [&] {
      return fmt::format("device {} holds {} bytes and has a peak of {}", d, least[d],
                         trial.found().peak_memory[d].value);
    });
  }
}

// What a task reads and writes is there while it runs, beside what lasts.
void memory_holds_what_tasks_use(Trial& trial) {
  trial.applies();
  const Plan& plan = trial.found().plan;
  std::vector<std::int64_t> lasting(trial.devices());
  for (const Buffer& buffer : plan.buffers()) {
    if (buffer.lasts()) lasting[buffer.device()] += buffer.bytes.value;
  }
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    const Span& span = trial.found().timeline.span(0, TaskId(i));
    if (task.kind != TaskKind::compute || span.end == span.start) continue;
    std::set<BufferId> used;
    plan.for_each_use(TaskId(i), [&](BufferId buffer, Access) {
      const bool own = buffer.valid() && plan[buffer].device == task.device;
      if (own && !plan[buffer].lasts()) used.insert(buffer);
    });
    std::int64_t bytes = lasting[task.device()];
    for (const BufferId buffer : used) bytes += plan[buffer].bytes.value;
    trial.expect(bytes <= trial.found().peak_memory[task.device()].value, [&] {
      return fmt::format("a task uses {} bytes of device {}, whose peak is {}", bytes,
                         task.device(), trial.found().peak_memory[task.device()].value);
    });
  }
}

constexpr Relation kAccountRelations[] = {
    {"times are finite", times_are_finite},
    {"parts add up to the step", parts_add_up_to_the_step},
    {"devices compute what tasks cost", devices_compute_what_tasks_cost},
    {"sources are all costs", sources_are_all_costs},
    {"transfers take what their links allow", transfers_take_what_their_links_allow},
    {"rings take what their links allow", rings_take_what_their_links_allow},
    {"bytes are those of the definitions", bytes_are_those_of_the_definitions},
    {"memory holds parameters and state", memory_holds_parameters_and_state},
    {"memory holds what tasks use", memory_holds_what_tasks_use},
};

}  // namespace

std::span<const Relation> account_relations() {
  return kAccountRelations;
}

}  // namespace strata::testing
