#include "sim/timeline/exposure.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace strata {
namespace {

using Key = std::tuple<LayerId, LayerId, WorkKind>;

bool communicates(WorkKind kind) {
  return kind == WorkKind::transfer || kind == WorkKind::sync || kind == WorkKind::statistics;
}

// Which part of the communication a task belongs to.
Key key_of(const Graph& graph, const Plan& plan, const Task& task) {
  const WorkKind kind = work_kind(task);
  const bool edge = task.kind == TaskKind::transfer && kind == WorkKind::transfer;
  if (!edge) return {task.layer, LayerId(), kind};
  const bool partial = task.phase == Phase::forward_sum || task.phase == Phase::backward_sum;
  if (partial) return {task.layer, task.layer, kind};
  return {task.layer, graph[task.layer].inputs[plan.transfers()[task.detail].input], kind};
}

// How long at least one of the spans lasts within the time.
Seconds union_of(std::vector<Span>& spans, const SteadyTime& time) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  Seconds sum, until = time.from;
  for (const Span& span : spans) {
    const Seconds begin = std::max(span.start, until), end = std::min(span.end, time.to);
    if (end <= begin) continue;
    sum += end - begin;
    until = end;
  }
  return sum / time.steps;
}

}  // namespace

Exposures exposures(const Graph& graph, const Plan& plan, const Timeline& timeline,
                    std::span<const PathStep> path) {
  const SteadyTime steady = timeline.steady_time();
  std::map<Key, std::vector<Span>> spans;
  std::vector<Span> all;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const TaskId task(i);
    if (!communicates(work_kind(plan[task]))) continue;
    std::vector<Span>& of_key = spans[key_of(graph, plan, plan[task])];
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const Span& span = timeline.span(step, task);
      if (steady.within(span) <= Seconds{}) continue;
      of_key.push_back(span);
      all.push_back(span);
    }
  }
  Exposures found;
  std::map<Key, Seconds> exposed;
  for (const PathStep& step : path) {
    const Task& task = plan[step.task];
    if (!communicates(work_kind(task))) continue;
    const Seconds time = steady.within(timeline.span(step.step, step.task)) / steady.steps;
    exposed[key_of(graph, plan, task)] += time;
    found.all.exposed += time;
  }
  found.all.lasts = union_of(all, steady);
  for (auto& [key, of_key] : spans) {
    const Seconds lasts = union_of(of_key, steady);
    if (lasts <= Seconds{}) continue;
    const auto& [layer, producer, kind] = key;
    found.parts.push_back({layer, producer, kind, lasts, exposed[key]});
  }
  return found;
}

}  // namespace strata
