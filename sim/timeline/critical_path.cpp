#include "sim/timeline/critical_path.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace strata {
namespace {

// The last to end.
TaskOfStep last_task(const Plan& plan, const Timeline& timeline) {
  TaskOfStep latest{0, TaskId(0)};
  for (std::uint32_t step = 0; step < timeline.steps(); ++step) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const TaskId task(i);
      const Seconds end = timeline.span(step, task).end;
      if (end > timeline.span(latest.step, latest.task).end) latest = {step, task};
    }
  }
  return latest;
}

/// By WorkKind: what a person looks for as one.
constexpr std::array<Seconds PathShares::*, kWorkKinds> kShareOf = {
    &PathShares::compute, &PathShares::compute,    &PathShares::compute, &PathShares::transfer,
    &PathShares::sync,    &PathShares::statistics, &PathShares::idle};

// Of all links of a class, to the one that stands for it.
void add_route_bytes(const Plan& plan, const Cluster& cluster, const Task& task, double times,
                     std::vector<double>& bytes) {
  const double alike = times * static_cast<double>(plan.alike(task));
  for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
    for (LinkId link : cluster.route(piece.from, task.device)) {
      bytes[plan.representative(link)()] += static_cast<double>(piece.bytes.value) * alike;
    }
  }
}

// Of a plan by classes: what one device, or link, of each class does, the others do.
void spread_over_classes(const Plan& plan, Utilisation& use) {
  for (std::size_t d = 0; d < use.devices.size(); ++d) {
    use.devices[d] = use.devices[plan.representative(DeviceId(d))()];
  }
  for (std::size_t l = 0; l < use.link_bytes.size(); ++l) {
    use.link_bytes[l] = use.link_bytes[plan.representative(LinkId(l))()];
  }
}

}  // namespace

std::vector<PathStep> critical_path(const Plan& plan, const Timeline& timeline) {
  if (plan.size() == 0 || timeline.steps() == 0) return {};
  const Causes causes(plan, timeline);
  std::vector<PathStep> path;
  TaskOfStep at = last_task(plan, timeline);
  for (;;) {
    const std::optional<Cause> cause = causes.of(at);
    path.push_back({at.step, at.task, cause ? cause->bound : Bound::start});
    if (!cause) break;
    at = cause->of;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<PathPart> path_parts(const Plan& plan, const Timeline& timeline,
                                 std::span<const PathStep> path) {
  const SteadyTime steady = timeline.steady_time();
  std::map<std::pair<LayerId, WorkKind>, Seconds> sums;
  for (const PathStep& step : path) {
    const Task& task = plan[step.task];
    const Seconds time = steady.within(timeline.span(step.step, step.task)) / steady.steps;
    if (time.value > 0) sums[{task.layer, work_kind(task)}] += time;
  }
  std::vector<PathPart> parts;
  parts.reserve(sums.size());
  for (const auto& [what, seconds] : sums) parts.push_back({what.first, what.second, seconds});
  return parts;
}

PathShares path_shares(const Plan& plan, const Timeline& timeline) {
  return path_shares(plan, timeline, critical_path(plan, timeline));
}

PathShares path_shares(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path) {
  return path_shares(plan, timeline, path, timeline.steady_time());
}

PathShares path_shares(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path,
                       const SteadyTime& steady) {
  PathShares shares;
  Seconds accounted;
  for (const PathStep& step : path) {
    const Seconds time = steady.within(timeline.span(step.step, step.task));
    shares.*kShareOf[static_cast<std::size_t>(work_kind(plan[step.task]))] += time;
    accounted += time;
  }
  for (Seconds* share : {&shares.compute, &shares.transfer, &shares.sync, &shares.statistics}) {
    *share = *share / steady.steps;
  }
  shares.idle = std::max(Seconds{}, (steady.to - steady.from - accounted) / steady.steps);
  return shares;
}

Utilisation utilisation(const Plan& plan, const Timeline& timeline, const Cluster& cluster,
                        Seconds step, const RepeatedRounds& repeated) {
  Utilisation use;
  use.devices.assign(cluster.device_count(), 0);
  use.link_bytes.assign(cluster.links().size(), 0);
  const std::size_t last = timeline.steady_window().last;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    const double times = repeated.weight(task);
    if (task.stream == Stream::device) {
      use.devices[task.device()] += times * timeline.span(last, TaskId(i)).duration() / step;
    }
    if (task.kind == TaskKind::transfer) {
      add_route_bytes(plan, cluster, task, times, use.link_bytes);
    }
  }
  for (std::size_t l = 0; l < use.link_bytes.size(); ++l) {
    use.link_bytes[l] /= static_cast<double>(plan.members(LinkId(l)));
  }
  for (const Group& group : plan.groups()) {
    for (const CollectivePhase& phase : plan.group_shapes()[group.shape].phases) {
      const double amount = repeated.weight(plan[group.tasks.front()]) * phase.bytes_per_byte *
                            static_cast<double>(group.bytes.value);
      for (const LinkLoad& load : phase.loads) use.link_bytes[load.link()] += load.weight * amount;
    }
  }
  if (plan.classes() != nullptr) spread_over_classes(plan, use);
  for (std::size_t i = 0; i < use.link_bytes.size(); ++i) {
    use.links.push_back(use.link_bytes[i] / (cluster.links()[i].bandwidth.value * step.value));
  }
  return use;
}

}  // namespace strata
