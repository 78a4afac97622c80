#include "sim/simulate/simulate.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/engine/engine.h"
#include "sim/plan/work_kind.h"

namespace strata {
namespace {

// A participant is ready when its own dependencies are done, however late its peers are.
Seconds participant_ready(const Plan& plan, const PlanWorkload& built, const ActivityTimes& times,
                          std::size_t step, TaskId id) {
  Tick ready = 0;
  for (TaskId before : plan.dependencies(id)) {
    ready = std::max(ready, times.end[built.last[step * plan.size() + before()]()]);
  }
  return to_seconds(ready);
}

std::vector<Span> spans_of(const Plan& plan, const PlanWorkload& built, const ActivityTimes& times,
                           std::size_t steps) {
  std::vector<Span> spans;
  spans.reserve(steps * plan.size());
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::size_t first = built.first[spans.size()](), last = built.last[spans.size()]();
      Span span{to_seconds(times.ready[first]), to_seconds(times.start[first]),
                to_seconds(times.end[last])};
      if (plan[TaskId(i)].kind == TaskKind::collective) {
        span.ready = participant_ready(plan, built, times, step, TaskId(i));
      }
      spans.push_back(span);
    }
  }
  return spans;
}

// The engine tells when a flow's rate changes, but not that it ends.
std::vector<RateChange> with_ends(std::vector<RateChange> changes, const Workload& workload,
                                  const ActivityTimes& times) {
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const ActivityId id(i);
    if (workload.kind(id) == ActivityKind::flow) changes.push_back({times.end[i], id, 0});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const RateChange& a, const RateChange& b) {
    return a.at != b.at ? a.at < b.at : (a.rate == 0) > (b.rate == 0);
  });
  return changes;
}

// The summed rate on every link after each change, from the rates of the flows.
std::vector<LinkRate> link_rates(const Workload& workload, std::span<const RateChange> changes,
                                 std::size_t links) {
  std::vector<double> flow_rate(workload.size());
  std::vector<double> total(links);
  std::vector<std::size_t> flows(links);
  std::vector<std::vector<LinkRate>> by_link(links);
  for (const RateChange& change : changes) {
    const double before = std::exchange(flow_rate[change.flow()], change.rate);
    if (before == change.rate) continue;
    for (const Demand& demand : workload.demands(change.flow)) {
      const std::size_t link = demand.link();
      flows[link] += before == 0;
      flows[link] -= change.rate == 0;
      // An idle link carries nothing, whatever rounding left in the sum.
      total[link] = flows[link] == 0 ? 0 : total[link] + (change.rate - before) * demand.weight;
      const Seconds at = to_seconds(change.at);
      std::vector<LinkRate>& rates = by_link[link];
      if (rates.empty() || rates.back().at != at) rates.push_back({demand.link, at, {}});
      rates.back().rate = {total[link]};
    }
  }
  std::vector<LinkRate> all;
  for (const auto& rates : by_link) all.insert(all.end(), rates.begin(), rates.end());
  return all;
}

// A device without a copy engine: a transfer, or its part in a sum over replicas, which reads and
// fetches all but one share of the tensor.
Cost move_cost(const Plan& plan, const Task& task, const CostModel& model) {
  if (task.kind == TaskKind::transfer) {
    return model.move(MoveKind::copy, plan.transfers()[task.detail].bytes);
  }
  const Group& group = plan.groups()[task.detail];
  const auto replicas = static_cast<std::int64_t>(plan.participants(group).size());
  const Bytes bytes{group.bytes.value * (replicas - 1) / replicas};
  return model.move(task.kind == TaskKind::reduce ? MoveKind::reduce : MoveKind::copy, bytes);
}

// A library adds up what a reduce-scatter brings while it moves.
bool is_added_on_the_way(const Plan& plan, TaskId sum) {
  return std::ranges::any_of(plan.dependencies(sum), [&](TaskId part) {
    const Exchange* const exchange = plan.exchange_of(plan[part]);
    return exchange != nullptr && exchange->work == GroupWork::reduce_scatter;
  });
}

// Of what others made one part is read; each of the rest is added.
Cost sum_cost(const Plan& plan, TaskId task, const CostModel& model) {
  Bytes added;
  const std::span<const Piece> parts = plan.moves(task);
  for (std::size_t i = 1; i < parts.size(); ++i) added += parts[i].bytes;
  Cost cost = model.move(MoveKind::reduce, added);
  if (is_added_on_the_way(plan, task)) cost.seconds = {};
  return cost;
}

// Of a bucket's update, which would take what its layers' updates take, an interval's share.
template <class CostOf>
Cost interval_cost(const Graph& graph, const Plan& plan, const Group& sum, std::size_t k,
                   const CostOf& cost_of) {
  const TaskId update = sum.updates[k];
  const Task& task = plan[update];
  Cost cost{{}, CostSource::measured};
  for (const SummedLayer& summed : sum.layers) {
    const HeldShard held = weight_on(graph, plan, summed.layer, task.device);
    const Cost own = cost_of(held.layer, held.shard);
    cost.seconds += own.seconds;
    cost.spread += own.spread * own.seconds.value;
    cost.source = std::max(cost.source, own.source);
  }
  if (cost.seconds.value > 0) cost.spread /= cost.seconds.value;
  const std::int64_t values = plan.operands(update).front().values;
  cost.seconds = static_cast<double>(values) / static_cast<double>(sum.values) * cost.seconds;
  return cost;
}

}  // namespace

std::vector<Cost> task_costs(const Plan& plan, const Graph& graph, const Strategy& strategy,
                             LayerCosts& costs, std::span<const CostModel* const> models) {
  if (costs.products() != plan.products()) {
    throw InternalError("the costs merge other products than the plan");
  }
  if (costs.settings().optimizer != plan.optimizer()) {
    throw InternalError("the costs are of another optimizer than the plan");
  }
  std::vector<Cost> result(plan.size());
  std::vector<LayerCosts::OfShards*> layers(graph.size());
  const auto phases_of = [&](LayerId of, std::uint32_t shard,
                             DeviceId device) -> const PhaseCosts& {
    LayerCosts::OfShards*& layer = layers[of()];
    if (layer == nullptr) layer = &costs.of_shards(of, strategy[of]);
    return (*layer)(shard, *models[device()]);
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.stream != Stream::device) continue;
    const CostModel& model = *models[task.device()];
    if (task.kind != TaskKind::compute) {
      result[i] = move_cost(plan, task, model);
      continue;
    }
    if (is_sum(task.phase)) {
      result[i] = sum_cost(plan, TaskId(i), model);
      continue;
    }
    result[i] =
        phases_of(task.layer, task.shard, task.device)[static_cast<std::size_t>(task.phase)];
    const Bytes assembled = plan.assembled(TaskId(i));
    if (assembled.value > 0) {
      result[i].seconds += model.move(MoveKind::local, assembled).seconds;
    }
  }
  for (const Group& group : plan.groups()) {
    for (std::size_t k = 0; k < group.updates.size(); ++k) {
      const TaskId update = group.updates[k];
      if (!update.valid()) continue;
      result[update()] =
          interval_cost(graph, plan, group, k, [&](LayerId layer, std::uint32_t shard) {
            return phases_of(layer, shard,
                             plan[update].device)[static_cast<std::size_t>(Phase::update)];
          });
    }
  }
  return result;
}

CostSources cost_sources(const Plan& plan, std::span<const Cost> costs, Rounds rounds) {
  CostSources sources;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const Cost& cost = costs[i];
    const Task& task = plan[TaskId(i)];
    if (task.stream != Stream::device || !rounds.contain(task)) continue;
    Seconds& sum = cost.source == CostSource::measured       ? sources.measured
                   : cost.source == CostSource::interpolated ? sources.interpolated
                   : cost.source == CostSource::related      ? sources.related
                                                             : sources.analytic;
    sum += static_cast<double>(plan.members(task.device)) * cost.seconds;
  }
  return sources;
}

namespace {

// Which task of which step it stands for: those that it may be the last of.
[[noreturn]] void refuse(const ClockEnds& error, const Plan& plan, const Cluster& cluster,
                         const PlanWorkload& built) {
  const auto reaches = [&](ActivityId last) { return last.valid() && last >= error.activity; };
  const auto at = std::find_if(built.last.begin(), built.last.end(), reaches);
  if (at == built.last.end()) throw error;
  const auto slot = static_cast<std::size_t>(at - built.last.begin());
  const Task& task = plan[TaskId(slot % plan.size())];
  throw InputError(fmt::format("device {}: {} in step {}{}", cluster[task.device].name,
                               role_of(task).name, slot / plan.size() + 1, clock_ends_text()));
}

// Of the first step alone where all that follow repeat it.
ActivityTimes times_of(const Plan& plan, const Cluster& cluster, const PlanWorkload& built,
                       const SimulateOptions& options) try {
  return simulate(built.workload, options);
} catch (const ClockEnds& error) {
  refuse(error, plan, cluster, built);
}

ActivityTimes all_times(const Plan& plan, const Cluster& cluster, const PlanWorkload& built,
                        ActivityTimes&& times) try {
  return times.repeats() ? all_periods(built.workload, times) : std::move(times);
} catch (const ClockEnds& error) {
  refuse(error, plan, cluster, built);
}

// Costs that are the same in every step.
bool repeats(const Plan& plan, std::span<const Cost> costs) {
  return costs.size() == plan.size();
}

// A layer's next pass need not wait for the parameters that a server sends to other layers: then
// steps overlap.
bool may_repeat(const Plan& plan) {
  return std::none_of(plan.tasks().begin(), plan.tasks().end(), [](const Task& task) {
    return task.kind == TaskKind::transfer && task.phase == Phase::update;
  });
}

// What the busiest device or link of one step is busy for: so long each step lasts in the end, if
// not the few that are simulated.
Seconds busiest(const Workload& workload, std::size_t activities) {
  std::vector<Tick> devices(workload.device_count());
  const std::span<const BytesPerSecond> bandwidths = workload.link_bandwidths();
  std::vector<double> links(bandwidths.size());
  for (std::size_t i = 0; i < activities; ++i) {
    const ActivityId id(i);
    if (workload.kind(id) == ActivityKind::compute) {
      devices[workload.device(id)()] += workload.duration(id);
    } else if (workload.kind(id) == ActivityKind::flow) {
      for (const Demand& demand : workload.demands(id)) {
        links[demand.link()] += workload.bytes(id) * demand.weight;
      }
    }
  }
  Seconds most = to_seconds(*std::max_element(devices.begin(), devices.end()));
  for (std::size_t i = 0; i < links.size(); ++i) {
    most = std::max(most, Seconds{links[i] / bandwidths[i].value});
  }
  return most;
}

/// Of sums of the same times in another order.
constexpr double kDrift = 1e-9;
/// So many are simulated at most where those that were asked for do not repeat.
constexpr std::size_t kMostSteps = 32;

// What Timeline::step_seconds() calculates where every step takes `period`, to the last bit.
Seconds mean_interval(Tick period, Timeline::Window window) {
  const auto end = [&](std::size_t step) {
    return to_seconds(static_cast<Tick>(step + 1) * period);
  };
  if (window.last == window.first) return end(window.first);  // of one step
  return (end(window.last) - end(window.first)) / static_cast<double>(window.last - window.first);
}

// What the busiest device computes in a step of the steady window, slowed by flows.
Seconds busiest_slowed(const Workload& workload, const ActivityTimes& times, std::size_t steps) {
  const auto [before, last] = Timeline::steady_window(steps);
  const std::size_t period = workload.size() / steps,
                    counted = std::max<std::size_t>(last - before, 1), end = period * (last + 1);
  std::vector<Tick> devices(workload.device_count());
  for (std::size_t i = end - counted * period; i < end; ++i) {
    const ActivityId id(i);
    if (workload.kind(id) != ActivityKind::compute) continue;
    devices[workload.device(id)()] += times.end[i] - times.start[i];
  }
  const Tick most = *std::max_element(devices.begin(), devices.end());
  return to_seconds(most) / static_cast<double>(counted);
}

// What no step can be shorter than in the long run, where all have the same costs.
Seconds least_step(const Workload& workload, const ActivityTimes& times, std::size_t steps) {
  const Seconds least = busiest(workload, workload.size() / steps);
  if (workload.slowed_share() == 0) return least;
  return std::max(least, busiest_slowed(workload, times, steps));
}

// The steps that the others repeat. Where these are two, the second begins before the first has
// ended, and so does the third before the second has: it is there, too.
Timeline steps_that_tell(const Plan& plan, const PlanWorkload& built, const ActivityTimes& times,
                         std::size_t steps) {
  std::vector<Span> spans = spans_of(plan, built, times, steps);
  const Seconds later = to_seconds(times.makespan);
  for (std::size_t i = plan.size(); i < steps * plan.size(); ++i) {
    const Span span = spans[i];
    spans.push_back({span.ready + later, span.start + later, span.end + later});
  }
  return Timeline(plan.size(), std::move(spans));
}

/// Activities of so many steps, which repeat, and their times.
struct RepeatedSteps {
  PlanWorkload built;
  ActivityTimes times;
};
RepeatedSteps simulate_repeated(const Plan& plan, const Cluster& cluster,
                                std::span<const Cost> costs, std::size_t steps,
                                const Runtime& runtime, bool settles,
                                const std::atomic<bool>* cancelled) {
  RepeatedSteps done{build_workload(plan, cluster, costs, steps, runtime, cancelled), {}};
  SimulateOptions options;
  options.cancelled = cancelled;
  options.period = done.built.workload.size() / steps;
  options.settles = settles;
  done.times = times_of(plan, cluster, done.built, options);
  return done;
}

Timeline timeline_of(const Plan& plan, const Cluster& cluster, RepeatedSteps&& done,
                     std::size_t steps) {
  const ActivityTimes times = all_times(plan, cluster, done.built, std::move(done.times));
  return Timeline(plan.size(), spans_of(plan, done.built, times, steps), {},
                  least_step(done.built.workload, times, steps));
}

Timeline simulate_rates(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                        std::size_t steps, const Runtime& runtime, bool record_link_rates,
                        const std::atomic<bool>* cancelled) {
  const PlanWorkload built = build_workload(plan, cluster, costs, steps, runtime, cancelled);
  std::vector<RateChange> changes;
  SimulateOptions options;
  options.cancelled = cancelled;
  if (record_link_rates) options.rate_changes = &changes;
  const ActivityTimes times = times_of(plan, cluster, built, options);
  std::vector<LinkRate> rates;
  if (record_link_rates) {
    changes = with_ends(std::move(changes), built.workload, times);
    rates = link_rates(built.workload, changes, cluster.links().size());
  }
  const Seconds least = repeats(plan, costs) ? least_step(built.workload, times, steps) : Seconds{};
  return Timeline(plan.size(), spans_of(plan, built, times, steps), std::move(rates), least);
}

Timeline simulate_steps(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                        std::size_t steps, const Runtime& runtime, bool record_link_rates,
                        const std::atomic<bool>* cancelled) {
  if (record_link_rates || !repeats(plan, costs)) {
    return simulate_rates(plan, cluster, costs, steps, runtime, record_link_rates, cancelled);
  }
  return timeline_of(plan, cluster,
                     simulate_repeated(plan, cluster, costs, steps, runtime, false, cancelled),
                     steps);
}

Seconds first_start(const Timeline& timeline, std::size_t step) {
  const std::span<const Span> spans = timeline.step(step);
  const auto earlier = [](const Span& a, const Span& b) { return a.start < b.start; };
  return std::min_element(spans.begin(), spans.end(), earlier)->start;
}

// From one step's first start to the next one's, in the steady window.
Seconds start_interval(const Timeline& timeline) {
  const Timeline::Window window = timeline.steady_window();
  return (first_start(timeline, window.last) - first_start(timeline, window.first)) /
         static_cast<double>(window.last - window.first);
}

// Whether steps begin further apart than they end: they have not settled.
bool drifts(const Timeline& timeline) {
  return timeline.steps() > 1 && start_interval(timeline) > (1 + kDrift) * timeline.step_seconds();
}

// Where it drifts, more steps tell what none can be shorter than.
Timeline settled(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                 const Runtime& runtime, const std::atomic<bool>* cancelled, Timeline&& timeline) {
  if (!repeats(plan, costs) || !drifts(timeline)) return std::move(timeline);
  const std::size_t steps = timeline.steps();
  const double longest = to_seconds(kMaxTick).value / (2 * timeline.makespan().value);
  Seconds least = start_interval(timeline);
  for (std::size_t more = 2 * steps; more <= kMostSteps; more *= 2) {
    if (static_cast<double>(more) > longest * static_cast<double>(steps)) break;
    const Timeline longer = simulate_steps(plan, cluster, costs, more, runtime, false, cancelled);
    least = drifts(longer) ? start_interval(longer) : longer.step_seconds();
    if (!drifts(longer)) break;
  }
  return Timeline(plan.size(), timeline.spans(),
                  {timeline.link_rates().begin(), timeline.link_rates().end()}, least);
}

SteadyStep as_steady(Timeline&& timeline) {
  const Seconds seconds = timeline.step_seconds(), makespan = timeline.makespan();
  return {std::move(timeline), seconds, makespan};
}

}  // namespace

Timeline simulate(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                  std::size_t steps, const Runtime& runtime, bool record_link_rates,
                  const std::atomic<bool>* cancelled) {
  return settled(
      plan, cluster, costs, runtime, cancelled,
      simulate_steps(plan, cluster, costs, steps, runtime, record_link_rates, cancelled));
}

SteadyStep simulate_steady(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                           std::size_t steps, const Runtime& runtime, bool settles,
                           const std::atomic<bool>* cancelled) {
  assert(steps > 0 && repeats(plan, costs));
  // To begin again with all would take longer than to try so few at once.
  const std::size_t few = settles ? 2 : 3;
  if (steps > 1 && may_repeat(plan)) {
    // Whether the second step, and so each that follows, repeats the first one.
    const std::size_t tried = steps <= few ? steps : 2;
    RepeatedSteps done =
        simulate_repeated(plan, cluster, costs, tried, runtime, settles, cancelled);
    const Tick step = done.times.makespan;
    if (done.times.repeats() && step <= kMaxTick / static_cast<Tick>(steps)) {
      const std::size_t told = done.times.end.size() / done.times.period;
      return {steps_that_tell(plan, done.built, done.times, told),
              mean_interval(step, Timeline::steady_window(steps)),
              to_seconds(static_cast<Tick>(steps) * step)};
    }
    if (tried == steps) {
      return as_steady(settled(plan, cluster, costs, runtime, cancelled,
                               timeline_of(plan, cluster, std::move(done), steps)));
    }
  }
  return as_steady(simulate(plan, cluster, costs, steps, runtime, false, cancelled));
}

}  // namespace strata
