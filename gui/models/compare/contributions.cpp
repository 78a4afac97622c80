#include "gui/models/compare/contributions.h"

#include <algorithm>
#include <map>

namespace strata::gui {
namespace {

struct Window {
  Seconds from, to;
  double steps = 1;
};

// The same as path_shares() sums over.
Window steady(const Timeline& timeline) {
  const auto [first, last] = timeline.steady_window();
  if (first == last) return {{}, timeline.makespan(), 1};
  return {timeline.step_end(first), timeline.step_end(last), static_cast<double>(last - first)};
}

Seconds within(const Span& span, const Window& window) {
  const Seconds begin = std::max(span.start, window.from), end = std::min(span.end, window.to);
  return end > begin ? end - begin : Seconds{};
}

}  // namespace

std::vector<Contribution> path_contributions(const Scene& scene) {
  const Plan& plan = scene.prediction.plan;
  const Timeline& timeline = scene.prediction.timeline;
  const Window window = steady(timeline);
  std::map<std::pair<LayerId, WorkKind>, Seconds> sums;
  Seconds left = timeline.step_seconds();
  for (const PathStep& step : scene.path) {
    const Task& task = plan[step.task];
    const Seconds time = within(timeline.span(step.step, step.task), window) / window.steps;
    if (time.value > 0) sums[{task.layer, work_kind(task)}] += time;
  }
  std::vector<Contribution> parts;
  for (const auto& [what, seconds] : sums) {
    parts.push_back({what.first, what.second, seconds});
    left -= seconds;
  }
  const Seconds rounding = timeline.step_seconds() * 1e-12;
  if (left > rounding) parts.push_back({LayerId(), WorkKind::waiting, left});
  return parts;
}

std::vector<Contribution> eq1_contributions(const Scene& scene) {
  std::vector<Contribution> parts;
  for (std::size_t i = 0; i < scene.prediction.terms.size(); ++i) {
    const LayerTerms& terms = scene.prediction.terms[i];
    const auto add = [&](WorkKind kind, Seconds seconds) {
      if (seconds.value > 0) parts.push_back({LayerId(i), kind, seconds});
    };
    add(WorkKind::forward, terms.compute);
    add(WorkKind::transfer, terms.transfer);
    add(WorkKind::sync, terms.sync);
  }
  return parts;
}

}  // namespace strata::gui
