#pragma once

// The recording of a plan's timeline: its critical path first, then each device, by stages, with
// what occupies it and its bubbles, its collectives and what arrives there, then the links that
// carry something. A task's id is
// its step times the plan's tasks and its number. In a plan by classes, devices and links have the
// lanes of those that stand for them. Pure; thread-safe.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gui/models/scene.h"
#include "gui/models/timeline/lanes.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/critical_path.h"

namespace strata::gui {

struct PlanTimeline {
  std::string name;
  const Graph& graph;
  const Cluster& cluster;
  const Plan& plan;
  const Timeline& timeline;
  std::shared_ptr<const void> owner;   ///< keeps all that alive
  const StageNames* stages = nullptr;  ///< null: one, or unknown
};

/// "box0/gpu1", or the name alone.
std::string device_label(const Cluster& cluster, DeviceId device);
std::uint32_t task_id(const Plan& plan, const PickedTask& task);
PickedTask task_of(const Plan& plan, std::uint32_t id);

RecordingPtr record(const PlanTimeline& what, std::span<const PathStep> path = {});
RecordingPtr record(const ScenePtr& scene);

/// The times between which `Timeline::step_seconds` counts.
std::optional<TimeRange> steady_range(const Timeline& timeline);
/// The last of the steps between those times: most others are like it.
std::optional<TimeRange> steady_step(const Timeline& timeline);
/// When the first task of that step's forward pass begins. That may be long before the step before
/// ends, which may have gradients to sum until then.
std::optional<Seconds> steady_forward(const Plan& plan, const Timeline& timeline);

// What is known of a plan's task at one place of a timeline. Immutable; thread-safe.

class PlanFacts : public SliceFacts {
 public:
  /// `on_path`: ids of the critical path's tasks, sorted; `path_share`: by the plan's task, what
  /// all tasks of its name take of the path.
  PlanFacts(PlanTimeline what, std::vector<std::uint32_t> on_path, std::vector<float> path_share);

  using SliceFacts::lines;
  std::vector<std::string> lines(std::uint32_t id, double shift) const override;
  std::optional<double> ready(std::uint32_t id) const override;
  std::vector<std::uint32_t> before(std::uint32_t id) const override;
  std::vector<std::uint32_t> after(std::uint32_t id) const override;
  std::optional<PickedTask> task(std::uint32_t id) const override;
  std::optional<std::uint32_t> find(const PickedTask& task) const override;

 protected:
  const PlanTimeline& what() const { return what_; }

 private:
  std::string traffic(const Task& task) const;
  std::string round_text(const Task& task) const;  ///< "round 3 of 8, ", or empty
  std::string stage_text(LayerId layer) const;     ///< ", stage 2 of 4", or empty
  void add_before(PickedTask task, std::vector<std::uint32_t>& ids) const;
  bool is_join(TaskId task) const { return what_.plan[task].kind == TaskKind::join; }
  using Marks = std::vector<bool>;  ///< by the plan's task
  Marks waiting(const Marks& step_before, Marks now, std::size_t step,
                std::vector<std::uint32_t>& ids) const;

  PlanTimeline what_;
  std::vector<std::uint32_t> on_path_;
  std::vector<float> path_share_;
};

// What the critical path is made of, in the steady window alone: how long each task is on it there.
// Value; thread-safe to read.

/// What kind of work a task is: its layer's op, "update", "transfer", "all-reduce", "statistics",
/// "recomputation".
std::string work_name(const Graph& graph, const Task& task);

class SteadyPath {
 public:
  SteadyPath(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path);

  double seconds() const { return seconds_; }
  /// "conv2d 61.0 %   transfer 20.3 %": the largest first, all that is worth telling.
  std::string note(const Graph& graph) const;
  /// By task: the share that all tasks of its class take together.
  std::vector<float> shares(std::span<const std::uint32_t> class_of) const;

 private:
  const Plan& plan_;
  std::vector<double> by_task_;
  double seconds_ = 0;
};

}  // namespace strata::gui
