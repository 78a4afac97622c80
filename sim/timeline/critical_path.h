#pragma once

// The chain of tasks that explains the makespan, and how busy devices and links are.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/work_kind.h"
#include "sim/timeline/causes.h"
#include "sim/timeline/timeline.h"

namespace strata {

struct PathStep {
  std::uint32_t step = 0;
  TaskId task;
  Bound bound = Bound::start;
  bool operator==(const PathStep&) const = default;
};

/// From the last task to end back to the start, in order of time: each step starts exactly when
/// the one before it ended.
std::vector<PathStep> critical_path(const Plan& plan, const Timeline& timeline);

/// How long one kind of work for one layer is on the critical path, per step.
struct PathPart {
  LayerId layer;
  WorkKind kind = WorkKind::waiting;
  Seconds seconds;
  bool operator==(const PathPart&) const = default;
};
/// Of the part of the path that falls into the steady window, in the order of layers, then kinds;
/// none of no time.
std::vector<PathPart> path_parts(const Plan& plan, const Timeline& timeline,
                                 std::span<const PathStep> path);

/// The time that each kind of work takes on the part of the critical path that falls into the
/// steady window (Timeline::steady_window), per step.
struct PathShares {
  Seconds compute, transfer, sync, statistics, idle;
  bool operator==(const PathShares&) const = default;
};
PathShares path_shares(const Plan& plan, const Timeline& timeline);
/// The same, where the path is known already.
PathShares path_shares(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path);
/// In that time.
PathShares path_shares(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path,
                       const SteadyTime& window);

struct Utilisation {
  std::vector<double> devices;     ///< share of the steady-state step that computes
  std::vector<double> links;       ///< share of the link's capacity that is used
  std::vector<double> link_bytes;  ///< bytes a step over each link
};
/// Rounds of a plan that others repeat which are not in it, so many times.
struct RepeatedRounds {
  Rounds rounds = {0, 0};
  double times = 0;
  double weight(const Task& task) const { return rounds.contain(task) ? 1 + times : 1; }
};
/// Of steps that take `step` each.
Utilisation utilisation(const Plan& plan, const Timeline& timeline, const Cluster& cluster,
                        Seconds step, const RepeatedRounds& repeated = {});
inline Utilisation utilisation(const Plan& plan, const Timeline& timeline, const Cluster& cluster) {
  return utilisation(plan, timeline, cluster, timeline.step_seconds());
}

}  // namespace strata
