#pragma once

// What the critical path is made of, in the steady window alone: how long each task is on it there.
// Value; thread-safe to read.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/critical_path.h"

namespace strata::gui {

/// What kind of work a task is: its layer's op, "update", "transfer", "all-reduce", "statistics".
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
