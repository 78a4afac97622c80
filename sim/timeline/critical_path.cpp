#include "sim/timeline/critical_path.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace strata {
namespace {

struct Moment {
  std::uint32_t step;
  TaskId task;
};

class PathFinder {
 public:
  PathFinder(const Plan& plan, const Timeline& timeline)
      : plan_(plan), timeline_(timeline), ends_(plan.device_count()) {
    for (std::uint32_t step = 0; step < timeline.steps(); ++step) {
      for (std::size_t i = 0; i < plan.size(); ++i) index(step, TaskId(i));
    }
    for (auto& ends : ends_) std::stable_sort(ends.begin(), ends.end(), earlier);
  }

  std::vector<PathStep> run() const {
    std::vector<PathStep> path;
    Moment at = last();
    for (bool more = true; more;) {
      PathStep step{at.step, at.task, Bound::start};
      more = previous(at, step.bound);
      path.push_back(step);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  struct End {
    Seconds at;
    Moment of;
  };
  static bool earlier(const End& a, const End& b) { return a.at < b.at; }

  const Span& span(Moment m) const { return timeline_.span(m.step, m.task); }

  // Which task ends when on each device.
  void index(std::uint32_t step, TaskId id) {
    const Task& task = plan_[id];
    if (task.stream != Stream::device) return;
    const Span& s = timeline_.span(step, id);
    if (s.end > s.start) ends_[task.device()].push_back({s.end, {step, id}});
  }

  Moment last() const {
    Moment latest{0, TaskId(0)};
    for (std::uint32_t step = 0; step < timeline_.steps(); ++step) {
      for (std::size_t i = 0; i < plan_.size(); ++i) {
        const Moment m{step, TaskId(i)};
        if (span(m).end > span(latest).end) latest = m;
      }
    }
    return latest;
  }

  bool previous(Moment& at, Bound& bound) const {
    const Span& s = span(at);
    if (s.start.value == 0) return false;
    const Task& task = plan_[at.task];
    if (s.start > s.ready && task.stream == Stream::device) {
      const auto& ends = ends_[task.device()];
      const auto after = std::upper_bound(ends.begin(), ends.end(), End{s.start, {}}, earlier);
      if (after != ends.begin() && std::prev(after)->at == s.start) {
        at = std::prev(after)->of;
        bound = Bound::resource;
        return true;
      }
    }
    const Moment of = at;
    bound = Bound::dependency;
    const bool found = latest_dependency(at);
    if (found && span(at).end == s.start) return true;
    const std::optional<Moment> turn = turn_before(of);
    if (!turn) return found;
    bound = Bound::resource;
    at = *turn;
    return true;
  }

  // Without overlap a device works or moves, one after the other, so a task may wait for one that
  // it does not depend on: which ended when it began, on a device of both.
  std::optional<Moment> turn_before(Moment of) const {
    if (turns_.empty()) {
      turns_.resize(ends_.size());
      for (std::uint32_t step = 0; step < timeline_.steps(); ++step) {
        for (std::size_t i = 0; i < plan_.size(); ++i) add_turn({step, TaskId(i)});
      }
      for (auto& turns : turns_) std::stable_sort(turns.begin(), turns.end(), earlier);
    }
    const Seconds start = span(of).start;
    for (DeviceId device : devices_of(of.task)) {
      const auto& turns = turns_[device()];
      const auto at = std::lower_bound(turns.begin(), turns.end(), End{start, {}}, earlier);
      if (at != turns.end() && at->at == start) return at->of;
    }
    return std::nullopt;
  }

  void add_turn(Moment of) const {
    const Span& s = span(of);
    if (s.end <= s.start) return;
    for (DeviceId device : devices_of(of.task)) turns_[device()].push_back({s.end, of});
  }

  // Which work at the task, or wait while it moves something.
  std::vector<DeviceId> devices_of(TaskId id) const {
    const Task& task = plan_[id];
    std::vector<DeviceId> devices = {task.device};
    if (task.kind == TaskKind::transfer) {
      for (const Piece& piece : plan_.pieces(plan_.transfers()[task.detail])) {
        devices.push_back(plan_.representative(piece.from));
      }
    } else if (task.kind == TaskKind::collective) {
      for (TaskId peer : plan_.groups()[task.detail].tasks) devices.push_back(plan_[peer].device);
    }
    return devices;
  }

  // The dependency that ended last; a collective waits for its peers' dependencies too.
  bool latest_dependency(Moment& at) const {
    const Moment of = at;
    bool found = false;
    Seconds latest{-1};
    const auto consider = [&](Moment m) {
      if (span(m).end <= latest) return;
      latest = span(m).end;
      at = m;
      found = true;
    };
    const auto consider_all = [&](TaskId task) {
      for (TaskId before : plan_.dependencies(task)) consider({of.step, before});
      if (of.step == 0) return;
      for (TaskId before : plan_.carried(task)) consider({of.step - 1, before});
    };
    const Task& task = plan_[of.task];
    if (task.kind != TaskKind::collective) {
      consider_all(of.task);
    } else {
      for (TaskId peer : plan_.groups()[task.detail].tasks) consider_all(peer);
    }
    return found;
  }

  const Plan& plan_;
  const Timeline& timeline_;
  std::vector<std::vector<End>> ends_;           // of work, by device, in order of time
  mutable std::vector<std::vector<End>> turns_;  // of moves, too; made when first asked for
};

/// By WorkKind: what a person looks for as one.
constexpr std::array<Seconds PathShares::*, kWorkKinds> kShareOf = {
    &PathShares::compute, &PathShares::compute,    &PathShares::compute, &PathShares::transfer,
    &PathShares::sync,    &PathShares::statistics, &PathShares::idle};

// Of all links of a class, to the one that stands for it.
void add_route_bytes(const Plan& plan, const Cluster& cluster, const Task& task,
                     std::vector<double>& bytes) {
  const auto alike = static_cast<double>(plan.alike(task));
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
  return PathFinder(plan, timeline).run();
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
  const SteadyTime steady = timeline.steady_time();
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

Utilisation utilisation(const Plan& plan, const Timeline& timeline, const Cluster& cluster) {
  Utilisation use;
  use.devices.assign(cluster.device_count(), 0);
  use.link_bytes.assign(cluster.links().size(), 0);
  const std::size_t last = timeline.steady_window().last;
  const Seconds step = timeline.step_seconds();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.stream == Stream::device) {
      use.devices[task.device()] += timeline.span(last, TaskId(i)).duration() / step;
    }
    if (task.kind == TaskKind::transfer) {
      add_route_bytes(plan, cluster, task, use.link_bytes);
    }
  }
  for (std::size_t l = 0; l < use.link_bytes.size(); ++l) {
    use.link_bytes[l] /= static_cast<double>(plan.members(LinkId(l)));
  }
  for (const Group& group : plan.groups()) {
    for (const CollectivePhase& phase : plan.group_shapes()[group.shape].phases) {
      const double amount = phase.bytes_per_byte * static_cast<double>(group.bytes.value);
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
