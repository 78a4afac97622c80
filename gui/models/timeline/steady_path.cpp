#include "gui/models/timeline/steady_path.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "gui/models/timeline/plan_recording.h"
#include "sim/plan/work_kind.h"

namespace strata::gui {
namespace {

constexpr double kWorthTelling = 0.0005;

}  // namespace

std::string work_name(const Graph& graph, const Task& task) {
  const WorkKind work = work_kind(task);
  const bool of_op = work == WorkKind::forward || work == WorkKind::backward;
  return std::string(of_op ? name(graph[task.layer].op) : name(work));
}

SteadyPath::SteadyPath(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path)
    : plan_(plan), by_task_(plan.size()) {
  const auto steady = steady_range(timeline);
  for (const PathStep& step : path) {
    const Span& span = timeline.span(step.step, step.task);
    const Seconds begin = std::max(span.start, steady->begin);
    const Seconds on_it = std::min(span.end, steady->end) - begin;
    by_task_[step.task()] += std::max(on_it.value, 0.0);
    seconds_ += std::max(on_it.value, 0.0);
  }
}

std::string SteadyPath::note(const Graph& graph) const {
  std::map<std::string, double> seconds;
  for (std::size_t i = 0; i < by_task_.size(); ++i) {
    seconds[work_name(graph, plan_[TaskId(i)])] += by_task_[i];
  }
  std::vector<std::pair<double, std::string>> order;
  order.reserve(seconds.size());
  for (const auto& [work, s] : seconds) order.emplace_back(-s, work);
  std::sort(order.begin(), order.end());
  std::string note;
  for (const auto& [s, work] : order) {
    if (-s <= kWorthTelling * seconds_) break;
    note += fmt::format("{}{} {:.1f} %", note.empty() ? "" : "   ", work, -100 * s / seconds_);
  }
  return note;
}

std::vector<float> SteadyPath::shares(std::span<const std::uint32_t> class_of) const {
  std::map<std::uint32_t, double> by_class;
  for (std::size_t i = 0; i < by_task_.size(); ++i) by_class[class_of[i]] += by_task_[i];
  std::vector<float> shares;
  for (const std::uint32_t c : class_of) {
    shares.push_back(static_cast<float>(seconds_ > 0 ? by_class.at(c) / seconds_ : 0));
  }
  return shares;
}

}  // namespace strata::gui
