#pragma once

// The recording of a plan's timeline: its critical path first, then each device with what occupies
// it, its collectives and what arrives there, then the links that carry something. A task's id is
// its step times the plan's tasks and its number. In a plan by classes, devices and links have the
// lanes of those that stand for them. Pure; thread-safe.

#include <memory>
#include <span>
#include <string>

#include "gui/models/scene.h"
#include "gui/models/timeline/lanes.h"

namespace strata::gui {

struct PlanTimeline {
  std::string name;
  const Graph& graph;
  const Cluster& cluster;
  const Plan& plan;
  const Timeline& timeline;
  std::shared_ptr<const void> owner;  ///< keeps all that alive
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

}  // namespace strata::gui
