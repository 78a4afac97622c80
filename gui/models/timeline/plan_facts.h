#pragma once

// What is known of a plan's task at one place of a timeline. Immutable; thread-safe.

#include <string>
#include <vector>

#include "gui/models/timeline/plan_recording.h"

namespace strata::gui {

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
  void add_before(PickedTask task, std::vector<std::uint32_t>& ids) const;
  bool is_join(TaskId task) const { return what_.plan[task].kind == TaskKind::join; }
  using Marks = std::vector<bool>;  ///< by the plan's task
  Marks waiting(const Marks& step_before, Marks now, std::size_t step,
                std::vector<std::uint32_t>& ids) const;

  PlanTimeline what_;
  std::vector<std::uint32_t> on_path_;
  std::vector<float> path_share_;
};

}  // namespace strata::gui
