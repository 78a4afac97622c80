#include "sim/simulate/simulate.h"

#include <algorithm>

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
  spans.reserve(built.first.size());
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

// The summed rate on every link after each change, from the rates of the flows.
std::vector<LinkRate> link_rates(const Workload& workload, std::span<const RateChange> changes,
                                 std::size_t links) {
  std::vector<double> flow_rate(workload.size());
  std::vector<double> total(links);
  std::vector<std::vector<LinkRate>> by_link(links);
  for (const RateChange& change : changes) {
    const double delta = change.rate - flow_rate[change.flow()];
    flow_rate[change.flow()] = change.rate;
    for (const Demand& demand : workload.demands(change.flow)) {
      double& rate = total[demand.link()];
      rate = std::max(0.0, rate + delta * demand.weight);
      auto& rates = by_link[demand.link()];
      const Seconds at = to_seconds(change.at);
      if (!rates.empty() && rates.back().at == at) {
        rates.back().rate = {rate};
      } else {
        rates.push_back({demand.link, at, {rate}});
      }
    }
  }
  std::vector<LinkRate> all;
  for (const auto& rates : by_link) all.insert(all.end(), rates.begin(), rates.end());
  return all;
}

}  // namespace

std::vector<Cost> task_costs(const Plan& plan, const Graph& graph, const Strategy& strategy,
                             LayerCosts& costs, std::span<const CostModel* const> models) {
  std::vector<Cost> result(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::compute) continue;
    const Partition cut(graph[task.layer].output, strategy[task.layer].degrees);
    const PhaseCosts& phases = costs(task.layer, cut.box(task.shard), *models[task.device()]);
    result[i] = phases[static_cast<std::size_t>(task.phase)];
  }
  return result;
}

CostSources cost_sources(std::span<const Cost> costs) {
  CostSources sources;
  for (const Cost& cost : costs) {
    Seconds& sum = cost.source == CostSource::measured       ? sources.measured
                   : cost.source == CostSource::interpolated ? sources.interpolated
                                                             : sources.analytic;
    sum += cost.seconds;
  }
  return sources;
}

Timeline simulate(const Plan& plan, const Cluster& cluster, std::span<const Cost> costs,
                  std::size_t steps, bool record_link_rates) {
  const PlanWorkload built = build_workload(plan, cluster, costs, steps);
  std::vector<RateChange> changes;
  SimulateOptions options;
  if (record_link_rates) options.rate_changes = &changes;
  const ActivityTimes times = simulate(built.workload, options);
  std::vector<LinkRate> rates;
  if (record_link_rates) rates = link_rates(built.workload, changes, cluster.links().size());
  return Timeline(plan.size(), spans_of(plan, built, times, steps), std::move(rates));
}

}  // namespace strata
