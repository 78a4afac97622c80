#include "sim/timeline/compare.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

#include "sim/base/quantile.h"

namespace strata {
namespace {

/// Steps begin ... end count: those whose ends lie in the window, after its first; or the only one.
struct Steps {
  std::size_t begin = 0, end = 0;
  double count() const { return static_cast<double>(end - begin); }
};

Steps counted_steps(const Timeline& timeline) {
  const auto [first, last] = timeline.steady_window();
  return {first == last ? first : first + 1, last + 1};
}

TaskTimes operator+(const TaskTimes& a, const TaskTimes& b) {
  return {a.duration + b.duration, a.queueing + b.queueing};
}

Seconds magnitude(Seconds seconds) {
  return {std::abs(seconds.value)};
}

void add(const TaskComparison& task, ErrorRow& row) {
  ++row.tasks;
  row.predicted = row.predicted + task.predicted;
  row.measured = row.measured + task.measured;
  row.absolute_error += magnitude(task.duration_difference());
}

std::vector<ErrorRow> group(const Plan& plan, std::span<const TaskComparison> tasks) {
  std::map<TaskClass, ErrorRow> rows;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind == TaskKind::join) continue;
    const TaskClass of = class_of(plan, task);
    ErrorRow& row = rows[of];
    row.of = of;
    add(tasks[i], row);
  }
  std::vector<ErrorRow> list;
  list.reserve(rows.size());
  for (const auto& [of, row] : rows) list.push_back(row);
  return list;
}

}  // namespace

TaskClass class_of(const Plan& plan, const Task& task) {
  TaskClass result{task.layer, task.kind, task.phase};
  if (!in_group(task.kind)) return result;
  const Group& group = plan.groups()[task.detail];
  result.algorithm = group.algorithm;
  result.layers = group.layers.size();
  return result;
}

std::vector<TaskTimes> mean_times(const Plan& plan, const Timeline& timeline) {
  assert(timeline.steps() > 0 && timeline.step(0).size() == plan.size());
  const Steps steps = counted_steps(timeline);
  std::vector<TaskTimes> means(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    TaskTimes sum;
    for (std::size_t step = steps.begin; step < steps.end; ++step) {
      const Span& span = timeline.span(step, TaskId(i));
      sum = sum + TaskTimes{span.duration(), span.start - span.ready};
    }
    means[i] = {sum.duration / steps.count(), sum.queueing / steps.count()};
  }
  return means;
}

std::vector<TaskTimes> median_times(std::span<const std::vector<TaskTimes>> times) {
  assert(!times.empty());
  std::vector<TaskTimes> medians(times.front().size());
  for (std::size_t i = 0; i < medians.size(); ++i) {
    std::vector<double> durations, queueing;
    for (const std::vector<TaskTimes>& each : times) {
      durations.push_back(each[i].duration.value);
      queueing.push_back(each[i].queueing.value);
    }
    medians[i] = {{median(std::move(durations))}, {median(std::move(queueing))}};
  }
  return medians;
}

std::vector<ErrorRow> explain_error(const Plan& plan, std::span<const TaskComparison> tasks) {
  std::vector<ErrorRow> rows = group(plan, tasks);
  Seconds total;
  for (const ErrorRow& row : rows) total += row.absolute_error;
  for (ErrorRow& row : rows) row.share = total.value > 0 ? row.absolute_error / total : 0;
  std::sort(rows.begin(), rows.end(), [](const ErrorRow& a, const ErrorRow& b) {
    if (a.absolute_error != b.absolute_error) return a.absolute_error > b.absolute_error;
    return a.of < b.of;
  });
  return rows;
}

std::vector<DeviceTimes> device_times(const Plan& plan, const Timeline& timeline) {
  const std::vector<TaskTimes> tasks = mean_times(plan, timeline);
  std::vector<DeviceTimes> devices(plan.device_count());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.stream == Stream::device) devices[task.device()].busy += tasks[i].duration;
  }
  const Seconds step = timeline.step_seconds();
  for (DeviceTimes& times : devices) times.idle = std::max(Seconds{}, step - times.busy);
  return devices;
}

std::vector<TaskComparison> compare(std::span<const TaskTimes> predicted,
                                    std::span<const TaskTimes> measured) {
  assert(predicted.size() == measured.size());
  std::vector<TaskComparison> tasks;
  for (std::size_t i = 0; i < predicted.size(); ++i) tasks.push_back({predicted[i], measured[i]});
  return tasks;
}

Comparison compare(const Plan& plan, const Timeline& predicted, const Timeline& measured) {
  Comparison result{predicted.step_seconds(), measured.step_seconds(), {}, {}, {}};
  result.tasks = compare(mean_times(plan, predicted), mean_times(plan, measured));
  result.rows = explain_error(plan, result.tasks);
  const auto devices_predicted = device_times(plan, predicted);
  const auto devices_measured = device_times(plan, measured);
  for (std::size_t i = 0; i < plan.device_count(); ++i) {
    result.devices.push_back({devices_predicted[i], devices_measured[i]});
  }
  return result;
}

}  // namespace strata
