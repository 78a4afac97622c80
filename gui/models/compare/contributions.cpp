#include "gui/models/compare/contributions.h"

namespace strata::gui {

std::vector<PathPart> path_contributions(const Scene& scene) {
  const Timeline& timeline = scene.prediction.timeline;
  std::vector<PathPart> parts = path_parts(scene.prediction.plan, timeline, scene.path);
  Seconds left = timeline.step_seconds();
  for (const PathPart& part : parts) left -= part.seconds;
  const Seconds rounding = timeline.step_seconds() * 1e-12;
  if (left > rounding) parts.push_back({LayerId(), WorkKind::waiting, left});
  return parts;
}

std::vector<PathPart> eq1_contributions(const Scene& scene) {
  std::vector<PathPart> parts;
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
