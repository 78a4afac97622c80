#include "gui/models/timeline/plan_facts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gui/models/text.h"
#include "sim/plan/task_title.h"

namespace strata::gui {
namespace {

constexpr std::size_t kMostNeighbours = 256;  // arrows that somebody could still tell apart

std::string senders(const Plan& plan, const Cluster& cluster, const Transfer& transfer) {
  const auto pieces = plan.pieces(transfer);
  std::string text = cluster[pieces.front().from].name;
  if (pieces.size() > 1) text += fmt::format(" and {} more", pieces.size() - 1);
  return text;
}

}  // namespace

PlanFacts::PlanFacts(PlanTimeline what, std::vector<std::uint32_t> on_path,
                     std::vector<float> path_share)
    : what_(std::move(what)), on_path_(std::move(on_path)), path_share_(std::move(path_share)) {}

std::string PlanFacts::traffic(const Task& task) const {
  if (task.kind == TaskKind::transfer) {
    const Transfer& transfer = what_.plan.transfers()[task.detail];
    return fmt::format("{} from {}", format_bytes(transfer.bytes),
                       senders(what_.plan, what_.cluster, transfer));
  }
  const Group& group = what_.plan.groups()[task.detail];
  return fmt::format("{} summed over {} devices", format_bytes(group.bytes), group.tasks.size());
}

std::vector<std::string> PlanFacts::lines(std::uint32_t id, double shift) const {
  const PickedTask picked = task_of(what_.plan, id);
  const Task& task = what_.plan[picked.task];
  Span span = what_.timeline.span(picked.step, picked.task);
  for (Seconds* time : {&span.ready, &span.start, &span.end}) *time += Seconds{shift};
  const auto [start, end] = seconds_apart(span.start, span.end);
  std::vector<std::string> lines = {
      task_title(what_.graph, what_.plan, task),
      fmt::format("{}, step {}, shard {} of {} ({})", device_label(what_.cluster, task.device),
                  picked.step, task.shard + 1, what_.plan.placement(task.layer).devices.size(),
                  name(what_.graph[task.layer].op)),
      fmt::format("{}: from {} to {}", seconds_text(span.duration()), start.toStdString(),
                  end.toStdString())};
  const Seconds waited = span.start - span.ready;
  lines.push_back(waited > Seconds{0} ? fmt::format("ready at {}, waited {}",
                                                    seconds_text(span.ready), seconds_text(waited))
                                      : "began as soon as it was ready");
  if (task.kind != TaskKind::compute) lines.push_back(traffic(task));
  if (std::binary_search(on_path_.begin(), on_path_.end(), id)) {
    lines.push_back(fmt::format("on the critical path: {:.1f} % of a step's, with its like",
                                100 * path_share_[picked.task()]));
  }
  return lines;
}

std::optional<double> PlanFacts::ready(std::uint32_t id) const {
  const PickedTask task = task_of(what_.plan, id);
  return what_.timeline.span(task.step, task.task).ready.value;
}

std::optional<PickedTask> PlanFacts::task(std::uint32_t id) const {
  return task_of(what_.plan, id);
}

std::optional<std::uint32_t> PlanFacts::find(const PickedTask& task) const {
  if (task.step >= what_.timeline.steps() || task.task() >= what_.plan.size()) return std::nullopt;
  return task_id(what_.plan, task);
}

// Joins are not drawn: what they join stands for them.
void PlanFacts::add_before(PickedTask task, std::vector<std::uint32_t>& ids) const {
  const auto add = [&](PickedTask other) {
    if (ids.size() >= kMostNeighbours) return;
    is_join(other.task) ? add_before(other, ids) : ids.push_back(task_id(what_.plan, other));
  };
  for (const TaskId other : what_.plan.dependencies(task.task)) add({task.step, other});
  if (task.step == 0) return;
  for (const TaskId other : what_.plan.carried(task.task)) add({task.step - 1, other});
}

// One walk through a step, in whose order tasks come after all that they wait for: what waits for a
// marked task is one more id, or a mark where it is a join.
PlanFacts::Marks PlanFacts::waiting(const Marks& step_before, Marks now, std::size_t step,
                                    std::vector<std::uint32_t>& ids) const {
  const auto any = [](const Marks& marks, std::span<const TaskId> tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [&](TaskId task) { return marks[task()]; });
  };
  for (std::size_t i = 0; i < now.size() && ids.size() < kMostNeighbours; ++i) {
    const TaskId task(i);
    if (!any(now, what_.plan.dependencies(task)) && !any(step_before, what_.plan.carried(task)))
      continue;
    if (is_join(task)) now[i] = true;
    if (!is_join(task)) ids.push_back(task_id(what_.plan, {step, task}));
  }
  return now;
}

std::vector<std::uint32_t> PlanFacts::before(std::uint32_t id) const {
  std::vector<std::uint32_t> ids;
  add_before(task_of(what_.plan, id), ids);
  return ids;
}

std::vector<std::uint32_t> PlanFacts::after(std::uint32_t id) const {
  std::vector<std::uint32_t> ids;
  const PickedTask task = task_of(what_.plan, id);
  const Marks none(what_.plan.size());
  Marks marked = none;
  marked[task.task()] = true;
  marked = waiting(none, marked, task.step, ids);
  for (std::size_t step = task.step + 1; step < what_.timeline.steps() && marked != none; ++step) {
    marked = waiting(marked, none, step, ids);
  }
  return ids;
}

}  // namespace strata::gui
